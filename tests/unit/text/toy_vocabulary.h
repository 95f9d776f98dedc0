/* A small WordPiece vocabulary for tests and fuzzing. */
#ifndef LOCI_TESTS_TEXT_TOY_VOCABULARY_H
#define LOCI_TESTS_TEXT_TOY_VOCABULARY_H

#define TOY_VOCABULARY                                                                             \
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nun\n##want\n##ed\nrun\n##s\n,\n.\n\xE4\xB8\xAD\n"            \
    "cafe\n\xCF\x83\n##\xCF\x83\n##\xCF\x82\n\xE1\x84\x80\n##\xE1\x85\xA1\na\n##a\n'\n"

enum {
    UNK = 1,
    CLS,
    SEP,
    THE,
    UN,
    WANT,
    ED,
    RUN,
    S,
    COMMA,
    DOT,
    ZHONG,
    CAFE,
    SIGMA,
    SIGMA2,
    FINAL,
    KIYEOK,
    JUNGSEONG_A,
    A,
    A2,
    QUOTE
};

#endif
