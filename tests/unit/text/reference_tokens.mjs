// node reference_tokens.mjs DEPS SCHEME COUNT SEED OUT: what tiktoken makes of seeded strings.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { record, strings } from "./strings.mjs";

const [deps, scheme, count, seed, out] = process.argv.slice(2);
const require = createRequire(path.resolve(deps, "token-reference", "x.js"));
const { get_encoding } = require("tiktoken");
const encoding = get_encoding(scheme);
const records = [];
for (const text of strings(Number(seed), Number(count))) {
    records.push(record(text, Array.from(encoding.encode_ordinary(text))));
}
fs.writeFileSync(out, Buffer.concat(records));
