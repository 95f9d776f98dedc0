#include "embed/range.h"

#include "base/alloc.h"
#include "vec/dot.h"

#include <math.h>
#include <stdlib.h>

/* Changing a sentence changes every score of every store: treat them as a file format. */
static const struct pair {
    const char *question, *answer;
} pairs[] = {
    /* clang-format off */
    { "Where did we go on holiday last summer?", "In July the whole family spent two weeks camping by a lake in Sweden." },
    { "What is the password policy?", "Passphrases must have at least fourteen characters and are changed once a year." },
    { "Which database does the billing service use?", "Invoices are stored in PostgreSQL 15 on a replicated cluster." },
    { "Why did the build fail?", "The linker could not find libssl because the package was missing on the runner." },
    { "How do I make the pasta sauce?", "Fry garlic in olive oil, add tomatoes and basil, and let it simmer for half an hour." },
    { "When is the dentist appointment?", "Dr. Marsh will see you on Thursday the 9th at half past two." },
    { "Who is responsible for the release?", "Priya cuts the release branch and signs the tags." },
    { "What does the user like to drink?", "She prefers green tea and has given up coffee." },
    { "What learning rate worked best?", "A step size of 3e-4 with cosine decay gave the lowest validation loss." },
    { "How old is the dog?", "Biscuit turned six in March; he is a brown terrier." },
    { "What caused the outage on Monday?", "An expired certificate took the gateway down for forty minutes." },
    { "Which language should the reply be in?", "He asked to be answered in German from now on." },
    { "How is the function tested?", "There is a table of inputs and expected outputs in the unit test." },
    { "What did the doctor say about the knee?", "The ligament is strained; rest it and do the exercises for six weeks." },
    { "Where are the log files?", "The service writes them to the journal, and they are rotated every night." },
    { "What is the budget for the kitchen?", "They agreed to spend no more than eight thousand on cupboards and the oven." },
    { "Which experiment should be repeated?", "Run number twelve had a broken sensor, so its measurements must be taken again." },
    { "What is her favourite book?", "She has read The Left Hand of Darkness four times and recommends it to everyone." },
    { "How many people come to the wedding?", "The guest list stands at eighty-five, children included." },
    { "What does error 429 mean?", "The server is telling the client to slow down and send fewer requests." },
    { "How do I reset the router?", "Hold the small button on the back for ten seconds until the light blinks." },
    { "Which train do I take to work?", "The 7:42 from platform three gets you to the office before nine." },
    { "What is the capital of Mongolia?", "Ulaanbaatar is the seat of the Mongolian government." },
    { "Why is the sky blue?", "Air scatters short waves of sunlight more than long ones." },
    { "What did the customer complain about?", "He was angry that the parcel came late and with a torn box." },
    { "How is memory freed in this program?", "Every request has an arena, and all of it is released when the reply is sent." },
    { "What are the rules for code review?", "Two approvals are needed, and nobody merges their own change." },
    { "Is he allergic to anything?", "Peanuts and shellfish give him a rash." },
    { "What should the robot do when the path is blocked?", "It stops, waits five seconds, and plans a new route around the obstacle." },
    { "When was the company founded?", "Three friends started the firm in a garage in 1998." },
    /* clang-format on */
};

enum { PAIRS = LOCI_COUNT(pairs), OTHERS = PAIRS * (PAIRS - 1) };

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* The value with `below` others below it, in hundredths. */
static float ranked(float *values, size_t count, size_t below)
{
    qsort(values, count, sizeof *values, compare);
    return roundf(values[below] * 100) / 100;
}

loci_rc loci_range_measure(loci_embed_service *service, int64_t deadline, float *ret_low,
                           float *ret_high, loci_err *err)
{
    const loci_embedder_info *info = NULL;
    loci_rc rc = loci_embed_service_learn(service, deadline, &info, err);
    if (rc) return rc;
    size_t dim = info->dim, n = 0;
    LOCI_AUTO(loci_freep) float *vectors = loci_zalloc(2 * PAIRS * dim * sizeof *vectors);
    loci_str questions[PAIRS], answers[PAIRS];
    float same[PAIRS], other[OTHERS];

    if (!vectors) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    for (size_t i = 0; i < PAIRS; i++) {
        questions[i] = loci_str_from(pairs[i].question);
        answers[i] = loci_str_from(pairs[i].answer);
    }
    float *of_answers = vectors + PAIRS * dim;
    rc = loci_embed_service_embed(service, LOCI_EMBED_QUERY, questions, PAIRS, deadline, vectors,
                                  err);
    if (!rc)
        rc = loci_embed_service_embed(service, LOCI_EMBED_DOCUMENT, answers, PAIRS, deadline,
                                      of_answers, err);
    if (rc) return rc;
    for (size_t i = 0; i < PAIRS; i++)
        for (size_t j = 0; j < PAIRS; j++) {
            float *to = i == j ? &same[i] : &other[n++];
            *to = loci_dot(vectors + i * dim, of_answers + j * dim, dim);
        }
    float low = ranked(other, OTHERS, OTHERS / 50);
    float high = ranked(same, PAIRS, PAIRS - 1 - PAIRS / 10);
    *ret_low = low;
    *ret_high = high > low + 0.01F ? high : low + 0.01F;
    return LOCI_OK;
}
