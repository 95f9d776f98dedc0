// Seeded strings of every kind that a tokenizer may meet. The same seed gives the same strings.

export function random(seed) {
    return () => {
        seed = (seed + 0x6d2b79f5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

const words = ("the quick brown fox jumps over lazy dogs while remembering internationalization " +
    "antidisestablishmentarianism memory agents don't can't we'll they're I'M YOU'VE he'd she'S " +
    "O'Brien rock'n'roll naïve résumé Zürich Straße İstanbul ΣΊΣΥΦΟΣ Οδυσσεύς Привет мир жизнь " +
    "שלום مرحبا नमस्ते สวัสดี 你好 世界 東京 こんにちは カタカナ 안녕하세요 ﬁnance ǅungla Ⅷ x² ½ ١٢٣ " +
    "getHTTPResponseCode user_name kebab-case example.com a.b.c 3.14159 1,000,000 2024-05-01 v1.2.3 " +
    "'ſo 'Sir 'll 'LL 're 'RE 'x '' ' 's's It’s l’homme <|endoftext|> https://a.b/c?d=e&f#g /usr/bin " +
    "😀 👨‍👩‍👧‍👦 🇩🇪 🏳️‍🌈 ☃ ♥️ 1️⃣ e\u0301 a\u0308\u0323 \u0301x \u200d \ufeff \u00ad").split(" ");
const code = ["if (x == 0) {\n    return -1;\n}\n", "def f(a, b=2):\n\treturn a ** b\n", "<div class=\"a\">",
    "SELECT * FROM t WHERE a >= 10;\r\n", "/* x */ // y\n\n\n", "{\"k\": [1, 2.5e-3, null]}", "&&||!=<<=->",
    "#include <stdio.h>\n", "\\n\\t\\\\", "=====", "-----\n", "....//////\n//", "a/b/\n/c", "\"'\"'`"];
const blanks = [" ", "  ", "   ", "\n", "\r\n", "\t", "\n\n", " \n", "\n ", "\u00a0", "\u3000", "\u2028",
    "\u0085", "\v\f", "\u2003 ", "        ", " \t\n \r ", "\u200b"];
const ranges = [[0x20, 0x7e], [0, 0x1f], [0x80, 0xff], [0x100, 0x24f], [0x300, 0x36f], [0x370, 0x52f],
    [0x590, 0x6ff], [0x900, 0xdff], [0xe00, 0xeff], [0x1000, 0x10ff], [0x1100, 0x11ff], [0x1c80, 0x1cff],
    [0x1e00, 0x1fff], [0x2000, 0x206f], [0x2070, 0x2bff], [0x2c00, 0x2dff], [0x3000, 0x30ff],
    [0x3400, 0x9fff], [0xa640, 0xabff], [0xac00, 0xd7a3], [0xe000, 0xe0ff], [0xf900, 0xffff],
    [0x10000, 0x10fff], [0x11000, 0x11fff], [0x16000, 0x18fff], [0x1d400, 0x1d7ff], [0x1e000, 0x1eeff],
    [0x1f000, 0x1faff], [0x20000, 0x2ffff], [0x30000, 0x3ffff], [0xe0000, 0xe01ff], [0x100000, 0x10ffff]];

// `allowed` says which code points may be used (default: all but surrogates).
export function* strings(seed, count, allowed = () => true) {
    const next = random(seed);
    const below = (n) => Math.floor(next() * n);
    const pick = (list) => list[below(list.length)];
    const point = ([a, b]) => {
        for (let i = 0; i < 50; i++) {
            const c = a + below(b - a + 1);
            if ((c < 0xd800 || c > 0xdfff) && allowed(c)) return String.fromCodePoint(c);
        }
        return "x";
    };
    const many = (n, make) => Array.from({ length: n }, make).join("");
    const flip = (s) => (below(4) ? s : below(2) ? s.toUpperCase() : s[0].toUpperCase() + s.slice(1));
    const kinds = [
        () => many(below(30), () => flip(pick(words)) + (below(3) ? " " : pick(blanks))),
        () => many(below(12), () => pick(code) + (below(2) ? "" : pick(blanks))),
        () => { const range = pick(ranges); return many(below(40), () => point(range)); },
        () => many(below(40), () => point(pick(ranges))),
        () => many(below(20), () => pick(blanks)) + pick(words) + many(below(6), () => pick(blanks)),
        () => many(below(30), () => pick("0123456789٣৪Ⅷ½²".split(""))) + pick(["", " ", "a", "."]),
        () => many(below(20), () => pick(["'", "s", "S", "t", "re", "VE", "ll", "ſ", " ", "d", "M", "I", "’"])),
        () => many(1, () => pick([" ", "a", "A", "\n", "é", "中", "!", "0", "\u0301", "ab", "=-", "\u00a0", "の"])
            .repeat(1 + below(300))) + pick(["", "x", " ", "\n"]),
        () => many(below(25), () => pick(["A", "b", "ʰ", "中", "\u0301", "ǅ", "Ω", "ω", " ", "-", "1", "'s", "\u0903"])),
        () => many(below(60), () => String.fromCharCode(97 + below(26))) + pick(words),
        () => many(below(8), () => pick(words) + pick(code) + point(pick(ranges)) + pick(blanks)),
    ];
    for (let i = 0; i < count; i++) {
        let s = kinds[i % kinds.length]();
        yield [...s].filter((c) => allowed(c.codePointAt(0))).join("");
    }
}

// One record: length of the text, text, number of ids, ids; all numbers 32 bits, little-endian.
export function record(text, ids) {
    const bytes = Buffer.from(text, "utf8");
    const out = Buffer.alloc(8 + bytes.length + 4 * ids.length);
    out.writeUInt32LE(bytes.length, 0);
    bytes.copy(out, 4);
    out.writeUInt32LE(ids.length, 4 + bytes.length);
    ids.forEach((id, i) => out.writeUInt32LE(id, 8 + bytes.length + 4 * i));
    return out;
}
