// node reference_wordpiece.mjs DEPS COUNT SEED OUT: what @huggingface/tokenizers makes of seeded
// strings. Left out is where that package departs from the published rules: ideographs beyond the
// first plane (it looks at halves of them) and unassigned characters (it keeps them).
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { record, strings } from "./strings.mjs";

const [deps, count, seed, out] = process.argv.slice(2);
const folder = path.resolve(deps, "wordpiece-reference");
const { Tokenizer } = createRequire(path.join(folder, "x.js"))("@huggingface/tokenizers");
const words = fs.readFileSync(path.join(folder, "vocab.txt"), "utf8").trimEnd().split("\n");
const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
const tokenizer = new Tokenizer({
    normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true,
        strip_accents: null, lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: null,
    decoder: null,
    added_tokens: [],
    model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##",
        max_input_chars_per_word: 100, vocab: Object.fromEntries(words.map((w, i) => [w, i])) },
}, { unk_token: "[UNK]" });
const allowed = (c) => {
    return !(c >= 0x20000 && c <= 0x3ffff) && !/\p{Cn}/u.test(String.fromCodePoint(c));
};
const records = [];
for (const text of strings(Number(seed), Number(count), allowed)) {
    records.push(record(text, Array.from(tokenizer.encode(text, { add_special_tokens: false }).ids)));
}
fs.writeFileSync(out, Buffer.concat(records));
