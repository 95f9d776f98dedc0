// node reference.mjs DEPS SCHEME FILE: how fast the reference counts the same text.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [deps, scheme, file] = process.argv.slice(2);
const require = createRequire(path.resolve(deps, "token-reference", "x.js"));
const encoding = require("tiktoken").get_encoding(scheme);
const text = fs.readFileSync(file, "utf8");
const bytes = fs.statSync(file).size;
let best = Infinity, count = 0;
for (let i = 0; i < 5; i++) {
    const start = process.hrtime.bigint();
    count = encoding.encode_ordinary(text).length;
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1e9);
}
console.log(`tiktoken  ${"ordinary text, ids".padEnd(22)} ${String(bytes).padStart(9)} bytes ` +
    `${String(count).padStart(8)} tokens ${(bytes / 1e6 / best).toFixed(1).padStart(8)} MB/s`);
