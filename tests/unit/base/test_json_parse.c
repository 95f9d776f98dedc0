/* The tables follow the rule of the public JSON parsing suites: what every parser must accept, what
 * every parser must refuse, and what is left to each of them, where ours is pinned down. */
#include "base/alloc.h"
#include "base/json.h"
#include "test.h"

#include <jansson.h>
#include <string.h>

enum { CEILING = 64 << 20 };

/* Parse, and write what came out into `out`. */
static loci_rc parse_to(loci_arena *arena, loci_str in, loci_buf *out, loci_err *err)
{
    const loci_json *value = NULL;
    loci_json_writer w;

    loci_rc rc = loci_json_parse(arena, in, &value, err);
    if (rc) {
        assert_null(value);
        return rc;
    }
    loci_json_begin(&w, out);
    loci_json_value(&w, value);
    return loci_json_check(&w, err);
}

static void expect(loci_str in, loci_rc want, loci_str want_text)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    LOCI_AUTO(loci_buf_done) loci_buf out;
    loci_err err = { 0 };

    loci_buf_init(&out, CEILING);
    loci_rc rc = parse_to(arena, in, &out, &err);
    if (rc != want || (want == LOCI_OK && !loci_str_eq(loci_buf_str(&out), want_text)))
        fail_msg("%.*s: %s %s, got %.*s", LOCI_ARG(loci_str_sub(in, 0, 200)), loci_rc_name(rc),
                 err.msg, LOCI_ARG(loci_buf_str(&out)));
    assert_int_equal(err.code, want);
    if (want != LOCI_OK) assert_true(strlen(err.msg) > 10);
}

typedef struct accepted {
    loci_str in, out;
} accepted;

static void accepts_what_all_must(void **state)
{
    /* clang-format off */
#define SAME(text) { LOCI_STR(text), LOCI_STR(text) }
#define GIVES(text, written) { LOCI_STR(text), LOCI_STR(written) }
    static const accepted cases[] = {
        GIVES("[[]   ]", "[[]]"), SAME("[\"\"]"), SAME("[]"), GIVES("[\"a\"]\n", "[\"a\"]"), SAME("[false]"),
        GIVES("[null, 1, \"1\", {}]", "[null,1,\"1\",{}]"), SAME("[null]"), GIVES("[1\n]", "[1]"),
        GIVES(" [1]", "[1]"), SAME("[1,null,null,null,2]"), GIVES("[2] ", "[2]"), GIVES(" [] ", "[]"),
        GIVES("\t\r\n [\t\r\n 1\t\r\n ,\t\r\n 2\t\r\n ]\t\r\n ", "[1,2]"),
        GIVES("{\t\"a\"\r:\n1 ,\"b\" : 2 }", "{\"a\":1,\"b\":2}"),
        GIVES("[123e65]", "[1.23e+67]"), GIVES("[0e+1]", "[0.0]"), GIVES("[0e1]", "[0.0]"), GIVES("[ 4]", "[4]"),
        GIVES("[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]", "[-1e-78]"),
        GIVES("[20e1]", "[200.0]"), GIVES("[-0]", "[0]"), GIVES("[-0.0]", "[-0.0]"), GIVES("[-0e1]", "[-0.0]"),
        SAME("[-123]"), SAME("[-1]"), GIVES("[1E22]", "[1e+22]"), GIVES("[1E-2]", "[0.01]"),
        GIVES("[1E+2]", "[100.0]"), GIVES("[123e45]", "[1.23e+47]"), GIVES("[123.456e78]", "[1.23456e+80]"),
        GIVES("[1e-2]", "[0.01]"), GIVES("[1e+2]", "[100.0]"), SAME("[123]"), SAME("[123.456789]"), SAME("[0]"),
        SAME("[1.0]"), SAME("[9223372036854775807,-9223372036854775808]"), SAME("[1.7976931348623157e+308]"),
        SAME("[9007199254740993]"), GIVES("[9007199254740993.0]", "[9007199254740992.0]"),
        SAME("{\"asd\":\"sdf\",\"dfg\":\"fgh\"}"), SAME("{\"asd\":\"sdf\"}"), SAME("{}"), SAME("{\"\":0}"),
        GIVES("{\"a\":\"b\",\"a\":\"c\"}", "{\"a\":\"c\"}"), GIVES("{\"a\":\"b\",\"a\":\"b\"}", "{\"a\":\"b\"}"),
        GIVES("{\"a\":1,\"z\":2,\"a\":3,\"b\":4}", "{\"a\":3,\"z\":2,\"b\":4}"),
        GIVES("{ \"min\": -1.0e+28, \"max\": 1.0e+28 }", "{\"min\":-1e+28,\"max\":1e+28}"),
        SAME("{\"z\":1,\"y\":2,\"x\":3,\"w\":4,\"v\":5,\"u\":6,\"t\":7,\"s\":8,\"r\":9,\"q\":10}"),
        SAME("{\"a\":[]}"), GIVES("{\n\"a\": \"b\"\n}", "{\"a\":\"b\"}"),
        GIVES("{\"title\":\"\\u041f\\u043e\\u043b\"}", "{\"title\":\"\xD0\x9F\xD0\xBE\xD0\xBB\"}"),
        GIVES("[\"\\u0060\\u012a\\u12AB\"]", "[\"`\xC4\xAA\xE1\x8A\xAB\"]"),
        GIVES("[\"\\uD801\\udc37\"]", "[\"\xF0\x90\x90\xB7\"]"),
        GIVES("[\"\\ud83d\\ude39\\ud83d\\udc8d\"]", "[\"\xF0\x9F\x98\xB9\xF0\x9F\x92\x8D\"]"),
        GIVES("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[\"\\\"\\\\/\\b\\f\\n\\r\\t\"]"),
        SAME("[\"\\\\u0000\"]"), SAME("[\"\\\"\"]"), SAME("[\"a/*b*/c/*d//e\"]"), SAME("[\"\\\\a\"]"),
        SAME("[\"\\\\n\"]"), SAME("[\"\\u0012\"]"), GIVES("[\"\\uFFFF\"]", "[\"\xEF\xBF\xBF\"]"),
        SAME("[\"asd\"]"), GIVES("[ \"asd\"]", "[\"asd\"]"), GIVES("[\"\\uDBFF\\uDFFF\"]", "[\"\xF4\x8F\xBF\xBF\"]"),
        GIVES("[\"new\\u00A0line\"]", "[\"new\xC2\xA0line\"]"), SAME("[\"\xF4\x8F\xBF\xBF\"]"),
        SAME("[\"\xEF\xBF\xBF\"]"), SAME("[\"\\u0000\"]"), SAME("[\"a\\u0000b\"]"), GIVES("[\"\\u002c\"]", "[\",\"]"),
        SAME("[\"\xCF\x80\"]"), SAME("[\"\xF0\x9B\xBF\xBF\"]"), SAME("[\"asd \"]"), SAME("\" \""),
        GIVES("[\"\\uD834\\uDd1e\"]", "[\"\xF0\x9D\x84\x9E\"]"), GIVES("[\"\\u0821\"]", "[\"\xE0\xA0\xA1\"]"),
        GIVES("[\"\\u0123\"]", "[\"\xC4\xA3\"]"), SAME("[\"\xE2\x80\xA8\xE2\x80\xA9\"]"),
        GIVES("[\"\\u0061\\u30af\\u30EA\\u30b9\"]", "[\"a\xE3\x82\xAF\xE3\x83\xAA\xE3\x82\xB9\"]"),
        GIVES("[\"new\\u000Aline\"]", "[\"new\\nline\"]"), SAME("[\"\x7F\"]"), SAME("[\"a\x7F" "a\"]"),
        SAME("[\"\xE2\x8D\x82\xE3\x88\xB4\xE2\x8D\x82\"]"), GIVES("[\"\\u005C\"]", "[\"\\\\\"]"),
        GIVES("[\"\\u0022\"]", "[\"\\\"\"]"), GIVES("[\"\\uDBFF\\uDFFE\"]", "[\"\xF4\x8F\xBF\xBE\"]"),
        GIVES("[\"\\uD83F\\uDFFE\"]", "[\"\xF0\x9F\xBF\xBE\"]"), GIVES("[\"\\u200B\"]", "[\"\xE2\x80\x8B\"]"),
        GIVES("[\"\\u2064\"]", "[\"\xE2\x81\xA4\"]"), GIVES("[\"\\uFDD0\"]", "[\"\xEF\xB7\x90\"]"),
        GIVES("[\"\\uFFFE\"]", "[\"\xEF\xBF\xBE\"]"), SAME("[\"\xE2\x82\xAC\xF0\x9D\x84\x9E\"]"),
        GIVES("[\"\xEF\xBB\xBF\"]", "[\"\xEF\xBB\xBF\"]"), SAME("{\"\xCF\x80\":\"[{,:\"}"),
        SAME("false"), SAME("42"), SAME("-0.1"), SAME("null"), SAME("\"asd\""), SAME("true"), SAME("\"\""),
        GIVES("  42\n", "42"), SAME("[true]"), SAME("[[[[]]],{\"a\":{\"b\":{}}}]"),
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) expect(cases[i].in, LOCI_OK, cases[i].out);
}

static void refuses_what_all_must(void **state)
{
    /* clang-format off */
#define T(text) LOCI_STR(text)
    static const loci_str cases[] = {
        T("[1 true]"), T("[a\xE5]"), T("[\"\": 1]"), T("[\"\"],"), T("[,1]"), T("[1,,2]"), T("[\"x\",,]"),
        T("[\"x\"]]"), T("[\"\",]"), T("[\"x\""), T("[x"), T("[3[4]]"), T("[\xFF]"), T("[1:2]"), T("[,]"), T("[-]"),
        T("[   , \"\"]"), T("[\"a\",\n4\n,1,"), T("[1,]"), T("[1,,]"), T("[\"\x0B" "a\"\\f]"), T("[*]"), T("[\"\""),
        T("[1,"), T("[1,\n1\n,1"), T("[{}"), T("[fals]"), T("[nul]"), T("[tru]"), T("123\0"), T("[1\0]"), T("[1.5\0,2]"), T("[true\0]"),
        T("null\0"), T("{\"a\"\0:1}"), T("\0" "1"), T("[++1234]"),
        T("[+1]"), T("[+Inf]"), T("[-01]"), T("[-1.0.]"), T("[-2.]"), T("[-NaN]"), T("[.-1]"), T("[.2e-3]"), T("[.5]"),
        T("[0.1.2]"), T("[0.3e+]"), T("[0.3e]"), T("[0.e1]"), T("[0E+]"), T("[0E]"), T("[0e+]"), T("[0e]"),
        T("[1 000.0]"), T("[1.0e+]"), T("[1.0e-]"), T("[1.0e]"), T("[1eE2]"), T("[2.e+3]"), T("[2.e-3]"), T("[2.e3]"),
        T("[1.e3]"), T("[9.e+]"), T("[1+2]"), T("[0x1]"), T("[0x42]"), T("[Inf]"), T("[Infinity]"), T("[0e+-1]"),
        T("[-123.123foo]"), T("[123\xE5]"), T("[1e1\xE5]"), T("[0\xE5]"), T("[-Infinity]"), T("[-foo]"), T("[- 1]"),
        T("[-012]"), T("[-.123]"), T("[-1x]"), T("[1ea]"), T("[1e\xE5]"), T("[1.]"), T("[2.]"), T("[.123]"), T("[01]"),
        T("[\xEF\xBC\x91]"), T("[NaN]"), T("[1.2a-3]"), T("[1.8011670033376514H-308]"), T("[012]"), T("01"), T("+1"),
        T("[\"x\", truth]"), T("{[: \"x\"}\n"), T("{\"x\", null}"), T("{\"x\"::\"b\"}"), T("{\xF0\x9F\x87\xA8}"),
        T("{\"a\":\"a\" 123}"), T("{key: 'value'}"), T("{\"\xB9\":\"0\",}"), T("{\"a\" b}"), T("{:\"b\"}"),
        T("{\"a\" \"b\"}"), T("{\"a\":"), T("{\"a\""), T("{1:1}"), T("{9999E9999:1}"), T("{null:null,null:null}"),
        T("{\"id\":0,,,,,}"), T("{'a':0}"), T("{\"id\":0,}"), T("{\"a\":\"b\"}/**/"), T("{\"a\":\"b\"}/**//"),
        T("{\"a\":\"b\"}//"), T("{\"a\":\"b\"}/"), T("{\"a\":\"b\",,\"c\":\"d\"}"), T("{a: \"b\"}"), T("{\"a\":\"a"),
        T("{ \"foo\" : \"bar\", \"a\" }"), T("{\"a\":\"b\"}#"), T(" "), T("[\"\\uD800\\\"]"), T("[\"\\uD800\\u\"]"),
        T("[\"\\uD800\\u1\"]"), T("[\"\\uD800\\u1x\"]"), T("[\xC3\xA9]"), T("[\"\\\0\"]"), T("[\"\\x00\"]"),
        T("[\"\\\\\\\"]"), T("[\"\\\t\"]"), T("[\"\\\xF0\x9F\x8C\x80\"]"), T("[\"\\\"]"), T("[\"\\u00A\"]"),
        T("[\"\\uD834\\uDd\"]"), T("[\"\\uD800\\uD800\\x\"]"), T("[\"\\u\xE5\"]"), T("[\"\\a\"]"), T("[\"\\uqqqq\"]"),
        T("[\"\\\xE5\"]"), T("[\\u0020\"asd\"]"), T("[\\n]"), T("\""), T("['single quote']"), T("abc"), T("[\"\\"),
        T("[\"a\0a\"]"), T("[\"new\nline\"]"), T("[\"\t\"]"), T("[\"\x1F\"]"), T("\"\\UA66D\""), T("\"\"x"), T("<.>"),
        T("[<null>]"), T("[1]x"), T("[1]]"), T("[\"asd]"), T("a\xC3\xA5"), T("[True]"), T("1]"), T("{\"x\": true,"),
        T("[][]"), T("]"), T("\xEF\xBB{}"), T("\xE5"), T("["), T(""), T("[\0]"), T("\0"), T("2@"), T("{}}"), T("{\"\":"),
        T("{\"a\":/*comment*/\"b\"}"), T("{\"a\": true} \"x\""), T("['"), T("[,"), T("[{"), T("[\"a"), T("[\"a\""),
        T("{"), T("{]"), T("{,"), T("{["), T("{\"a"), T("{'a'"), T("[\"\\{[\"\\{[\"\\{[\"\\{"), T("\xE9"), T("*"),
        T("{\"a\":\"b\"}#{}"), T("[\xE2\x81\xA0]"), T("[\\u000A\"\"]"), T("[1"), T("[ false, nul"), T("[ true, fals"),
        T("[ false, tru"), T("{\"asd\":\"asd\""), T("\xC3\xA5"), T("\xEF\xBB\xBF"), T("[\f]"), T("[\x0B]"), T("1 2"),
        T("[1}"), T("{\"a\":1]"), T("nullnull"), T("{}{}"), T("// x\n1"), T("[1 /* x */]"), T("\"a\"\"b\""), T("-"),
        T("[\xC2\xA0" "1]"), T(",")
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) expect(cases[i], LOCI_ESHAPE, LOCI_STR(""));
    expect((loci_str){ NULL, 0 }, LOCI_ESHAPE, LOCI_STR(""));
}

static void pins_down_what_is_left_open(void **state)
{
    /* clang-format off */
    static const struct { loci_str in; loci_rc want; loci_str out; } cases[] = {
        /* Too small is zero; too large is refused. */
        { T("[123.456e-789]"), LOCI_OK, T("[0.0]") },
        { T("[123e-10000000]"), LOCI_OK, T("[0.0]") },
        { T("[-1e-400]"), LOCI_OK, T("[-0.0]") },
        { T("[4.9e-324]"), LOCI_OK, T("[4.94065645841247e-324]") },
        { T("[0.4e006699999999999999999999999999999999999999999999999999]"), LOCI_ESHAPE, T("") },
        { T("[-1e+9999]"), LOCI_ESHAPE, T("") },
        { T("[1.5e+9999]"), LOCI_ESHAPE, T("") },
        { T("1e400"), LOCI_ESHAPE, T("") },
        { T("[-123123e100000]"), LOCI_ESHAPE, T("") },
        { T("[-123123123123123123123123123123]"), LOCI_ESHAPE, T("") },
        { T("[100000000000000000000]"), LOCI_ESHAPE, T("") },
        { T("[9223372036854775808]"), LOCI_ESHAPE, T("") },
        { T("[-9223372036854775809]"), LOCI_ESHAPE, T("") },
        { T("[18446744073709551615]"), LOCI_ESHAPE, T("") },
        /* Half a surrogate pair is refused. */
        { T("{\"\\uDFAA\":0}"), LOCI_ESHAPE, T("") },
        { T("[\"\\uDADA\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\\uD888\\u1234\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\\uD800\\n\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\\uDd1ea\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\\uD800\\uD800\\n\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\\ud800\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\\ud800abc\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\\uDd1e\\uD834\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\\uDFAA\"]"), LOCI_ESHAPE, T("") },
        /* So is what is not UTF-8. */
        { T("[\"\xFF\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xE9\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\x81\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xF4\xBF\xBF\xBF\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xC0\xAF\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xE0\x80\xAF\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xFC\x83\xBF\xBF\xBF\xBF\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xFC\x80\x80\x80\x80\x80\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xE0\xFF\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xED\xA0\x80\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xE6\x97\xA5\xD1\x88\xFA\"]"), LOCI_ESHAPE, T("") },
        { T("[\"\xF0\x9F\x98"), LOCI_ESHAPE, T("") },
        { T("[\0\"\0\xE9\0\"\0]\0"), LOCI_ESHAPE, T("") },
        { T("\0[\0\"\0\xE9\0\"\0]"), LOCI_ESHAPE, T("") },
        { T("\xFF\xFE[\0\"\0\xE9\0\"\0]\0"), LOCI_ESHAPE, T("") },
        /* So is a byte order mark, and U+0000 in a name, though RFC 8259 would allow the latter. */
        { T("\xEF\xBB\xBF{}"), LOCI_ESHAPE, T("") },
        { T("{\"foo\\u0000bar\": 42}"), LOCI_ESHAPE, T("") },
        { T("{\"\\u0000\": 42}"), LOCI_ESHAPE, T("") },
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) expect(cases[i].in, cases[i].want, cases[i].out);
}

static void says_what_and_where(void **state)
{
    /* clang-format off */
    static const struct { loci_str in; const char *msg; } cases[] = {
        { T("[\n\n  nul]"), "not JSON: invalid token near 'nul' at line 3, column 5" },
        { T("[1,2"), "not JSON: ']' expected near end of file at line 1, column 4" },
        { T("[1,\n9223372036854775808]"), "number out of range near '9223372036854775808' at line 2, column 19" },
        { T("1e400"), "number out of range near '1e400' at line 1, column 5" },
        { T("{\"\\u0000\":1}"), "name with U+0000 in it at line 1, column 9" },
        { T("\"\xCF\x80\xCF\x80\xFF\""), "not JSON: unable to decode byte 0xff near '\"\xCF\x80\xCF\x80' at line 1, column 3" },
        { T("[1,\n \xCF\x80\0]"), "not JSON: NUL byte at line 2, column 3" },
        { T("\0"), "not JSON: NUL byte at line 1, column 1" },
        /* The excerpt would hold half a character, or a control character: left off. */
        { T("\"\\\xC3\xA9\""), "not JSON: invalid escape at line 1, column 3" },
        { T("[\x01]"), "not JSON: invalid token at line 1, column 2" },
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
        const loci_json *value;
        loci_err err = { 0 };
        assert_int_equal(loci_json_parse(arena, cases[i].in, &value, &err), LOCI_ESHAPE);
        assert_string_equal(err.msg, cases[i].msg);
        assert_int_equal(loci_json_parse(arena, cases[i].in, &value, NULL), LOCI_ESHAPE);
    }
}

static void gives_the_values(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    const loci_json *root, *list;
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_json_parse(arena,
                              T("{\"n\":-5,\"r\":2.5,\"t\":true,\"z\":null,\"\":\"a\\u0000b\","
                                "\"l\":[1,[]]}"),
                              &root, &err),
              err);
    assert_int_equal(root->type, LOCI_JSON_OBJECT);
    assert_int_equal(root->object.count, 6);
    assert_str(root->object.members[0].name, "n");
    assert_int_equal(loci_json_find(root, T("n"))->integer, -5);
    assert_true(loci_json_find(root, T("r"))->real == 2.5);
    assert_true(loci_json_find(root, T("t"))->boolean);
    assert_int_equal(loci_json_find(root, T("z"))->type, LOCI_JSON_NULL);
    loci_str s = loci_json_find(root, T(""))->string;
    assert_int_equal(s.len, 3);
    assert_memory_equal(s.ptr, "a\0b\0", 4); /* with the NUL behind it */
    list = loci_json_find(root, T("l"));
    assert_int_equal(list->array.count, 2);
    assert_int_equal(list->array.items[0].integer, 1);
    assert_int_equal(list->array.items[1].array.count, 0);
    assert_null(loci_json_find(root, T("nn")));
    assert_null(loci_json_find(list, T("n")));
    assert_null(loci_json_find(NULL, T("n")));
    assert_string_equal(loci_json_type_name(LOCI_JSON_INT), "an integer");
    assert_string_equal(loci_json_type_name(LOCI_JSON_OBJECT), "an object");
    assert_string_equal(loci_json_type_name((loci_json_type)99), "nothing");
}

/* `unit` n times between two texts, on the heap. */
static void build(loci_buf *b, const char *before, const char *unit, size_t n, const char *after)
{
    size_t len = strlen(unit);

    loci_buf_init(b, 40 << 20);
    loci_buf_add_cstr(b, before);
    char *room = loci_buf_reserve(b, n * len);
    assert_non_null(room);
    for (size_t i = 0; i < n; i++) memcpy(room + i * len, unit, len);
    loci_buf_advance(b, n * len);
    loci_buf_add_cstr(b, after);
    assert_int_equal(loci_buf_check(b, NULL), LOCI_OK);
}

static void expect_built(const char *before, const char *unit, size_t n, const char *after,
                         loci_rc want)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new((size_t)CEILING * 2);
    LOCI_AUTO(loci_buf_done) loci_buf b;
    const loci_json *value;
    loci_err err = { 0 };

    build(&b, before, unit, n, after);
    loci_rc rc = loci_json_parse(arena, loci_buf_str(&b), &value, &err);
    if (rc != want) fail_msg("%s%s * %zu%s: %d %s", before, unit, n, after, rc, err.msg);
}

static void nest(size_t depth, const char *open, const char *close, loci_rc want)
{
    LOCI_AUTO(loci_buf_done) loci_buf b;

    build(&b, "", open, depth, strcmp(open, "[") == 0 ? "" : "0");
    for (size_t i = 0; i < depth; i++) loci_buf_add_cstr(&b, close);
    expect(loci_buf_str(&b), want, loci_buf_str(&b));
}

static void bounds_depth(void **state)
{
    (void)state;
    nest(LOCI_JSON_DEPTH, "[", "]", LOCI_OK);
    nest(LOCI_JSON_DEPTH + 1, "[", "]", LOCI_ELIMIT);
    nest(LOCI_JSON_DEPTH, "{\"a\":", "}", LOCI_OK);
    nest(LOCI_JSON_DEPTH + 1, "{\"a\":", "}", LOCI_ELIMIT);
    nest(500, "[", "]", LOCI_ELIMIT);
    expect_built("", "[", 100000, "", LOCI_ELIMIT);
    expect_built("", "[{\"\":", 50000, "\n", LOCI_ELIMIT);
    expect_built("[", "[],", 100000, "[]]", LOCI_OK);       /* wide is not deep */
    expect_built("\"", "[{", 100000, "\"", LOCI_OK);        /* and text is not nesting */
    expect_built("[\"\\\"", "[", 1000, "\\\\\"]", LOCI_OK); /* nor behind an escaped quote */
    expect_built("", "]", 1000, "", LOCI_ESHAPE);
}

static void bounds_values(void **state)
{
    (void)state;
    expect_built("[", "0,", LOCI_JSON_VALUES - 2, "0]", LOCI_OK);
    expect_built("[", "0,", LOCI_JSON_VALUES - 1, "0]", LOCI_ELIMIT);
    expect_built("", "0,", 16 << 20, "", LOCI_ELIMIT);
    expect_built("[", "[[]],", LOCI_JSON_VALUES, "0]", LOCI_ELIMIT);
    expect_built("", ":", 1000, "", LOCI_ESHAPE);
    expect_built("{", "::,", 1000, "}", LOCI_ESHAPE);
    expect_built("\"", "0,", 1 << 20, "\"", LOCI_OK); /* a long text is one value */
    expect((loci_str){ "", (size_t)LOCI_JSON_BYTES + 1 }, LOCI_ELIMIT, LOCI_STR(""));
}

/* The arena's ceiling holds, whether the values or the texts do not fit; nonsense asks for nothing.
 */
static void bounds_the_arena(void **state)
{
    /* clang-format off */
    static const struct { const char *unit; size_t count; loci_rc want; } cases[] = {
        { "0,", 10000, LOCI_ELIMIT },
        { "{},", 10000, LOCI_ELIMIT },
        { "\"0123456789012345678901234567\",", 1500, LOCI_ELIMIT },
        { "[],", 2000, LOCI_OK }, /* an empty one holds no value */
        { ":", 10000, LOCI_ESHAPE },
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 10);
        LOCI_AUTO(loci_buf_done) loci_buf b;
        const loci_json *value;
        loci_err err = { 0 };
        build(&b, "[", cases[i].unit, cases[i].count, "0]");
        assert_int_equal(loci_json_parse(arena, loci_buf_str(&b), &value, &err), cases[i].want);
    }
}

/* Every allocation fails once, ours and jansson's: an error, no leak, no half a value. Numbers stay
 * under 16 bytes: jansson asserts when it has no memory for longer ones. */
static void survives_failing_allocations(void **state)
{
    static const loci_str text = LOCI_STR(
        "{\"name\":\"a text of more than sixteen bytes\",\"a longer name than most\":[1,2.5,"
        "\"\\u00e9\",{}],\"n\":null,\"t\":true,\"o\":{\"a\":1,\"b\":2,\"c\":3,\"d\":4,"
        "\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":{\"k\":[[],[[]]]}}}");
    loci_rc rc = LOCI_ENOMEM;
    unsigned long n = 0;
    (void)state;

    json_set_alloc_funcs(loci_zalloc, loci_free);
    while (rc != LOCI_OK && n++ < 1000) {
        loci_arena *arena = loci_arena_new(CEILING);
        const loci_json *value = NULL;
        loci_err err = { 0 };
        loci_alloc_fail_at(n);
        rc = loci_json_parse(arena, text, &value, &err);
        loci_alloc_fail_at(0);
        if (rc != LOCI_OK) {
            assert_null(value);
            if (rc != LOCI_ENOMEM) fail_msg("allocation %lu: %s", n, err.msg);
        }
        loci_arena_free(arena);
    }
    assert_int_equal(rc, LOCI_OK);
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_all_must),
        cmocka_unit_test(refuses_what_all_must),
        cmocka_unit_test(pins_down_what_is_left_open),
        cmocka_unit_test(says_what_and_where),
        cmocka_unit_test(gives_the_values),
        cmocka_unit_test(bounds_depth),
        cmocka_unit_test(bounds_values),
        cmocka_unit_test(bounds_the_arena),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("base/json_parse", tests, NULL, NULL);
}
