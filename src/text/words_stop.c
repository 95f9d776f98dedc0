/* What questions to a memory are made of besides their subject: "what did I tell you about ...".
 * Dropped from questions only, so a text is still found by these words when nothing else is asked.
 */
#include "text/words.h"

#include <stdlib.h>
#include <string.h>

static const char *const stops[] = {
    /* clang-format off */
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "anything", "are",
    "arent", "as", "at", "be", "because", "been", "before", "being", "both", "but", "by", "can",
    "cant", "could", "couldnt", "did", "didnt", "do", "does", "doesnt", "doing", "done", "dont",
    "each", "either", "ever", "for", "from", "had", "hadnt", "has", "hasnt", "have", "havent",
    "having", "he", "hello", "her", "here", "hers", "herself", "hey", "hi", "him", "himself", "his",
    "how", "i", "if", "in", "into", "is", "isnt", "it", "its", "itself", "just", "know", "let", "may",
    "me", "might", "mine", "more", "most", "must", "my", "myself", "nor", "not", "of", "off", "oh",
    "ok", "okay", "on", "once", "only", "or", "other", "our", "ours", "ourselves", "out", "over",
    "own", "please", "really", "remember", "said", "same", "say", "says", "shall", "she", "should",
    "shouldnt", "so", "some", "something", "such", "tell", "than", "thanks", "that", "the", "their",
    "theirs", "them", "themselves", "then", "there", "these", "they", "this", "those", "through",
    "to", "told", "too", "under", "until", "up", "us", "very", "was", "wasnt", "we", "well", "were",
    "werent", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why",
    "will", "with", "wont", "would", "wouldnt", "yeah", "yes", "yet", "you", "your", "yours",
    "yourself",
    /* clang-format on */
};

static int compare(const void *key, const void *entry)
{
    return loci_str_cmp(*(const loci_str *)key, loci_str_from(*(const char *const *)entry));
}

bool loci_words_is_stop(loci_str word)
{
    return bsearch(&word, stops, LOCI_COUNT(stops), sizeof *stops, compare) != NULL;
}
