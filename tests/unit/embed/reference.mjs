// Compares our vectors with those of ONNX Runtime on 200 texts: cosine at least 0.999 in single
// precision and 0.99 with 8-bit weights. TAP on stdout; skipped without onnxruntime-node.
//
//   node reference.mjs BUILD
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convert, loadRuntime, models, openOurs, openReference } from './onnx_reference.mjs';

const build = process.argv[2];

// Two hundred texts: plain, short, long, of many scripts, and such as nobody would write.
function makeTexts() {
  const who = ['Maria', 'the night nurse', 'our landlord', 'Dr. Okafor', 'my brother', 'user_42'];
  const what = ['moved the meeting to Thursday', 'lost the spare key again', 'prefers tea without sugar',
    'fixed the leak in fetch_rows()', 'said that the deadline was never real', 'is allergic to peanuts',
    'bought 3 tickets for €24.50', 'wants a refund', 'never answers before 10:30', 'runs Debian 12'];
  const texts = ['', ' ', '\t\n\r', 'a', '.', '?!', '0', '-1.5e-10', 'I', '\u0000', '\ufffd', '#include <stdio.h>'];
  texts.push('Schöne Grüße aus Zürich', 'Où est passée la clé ?', '¿Dónde está mi abrigo?', 'Привет, как дела?',
    'καλημέρα κόσμε ΣΊΣΥΦΟΣ', '今日は雨が降ります', '我昨天去了图书馆', '안녕하세요 오늘 날씨', 'مرحبا بالعالم', 'שלום עולם',
    'สวัสดีตอนเช้า', 'नमस्ते दुनिया', 'İstanbul ışık', 'ﬁne ligatures ﬀ', '½ of ⅔ is ⅓', '👩‍👩‍👧‍👦 family 🏳️‍🌈', '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝕞𝕒𝕥𝕙',
    'e\u0301 and \u00e9', 'zero\u200bwidth\u200djoiner', '\u202eright to left', 'tab\tin\tbetween', 'ǅ ǆ Ǆ', '\u{1F9EC}\u{10FFFF}');
  texts.push('[CLS] [SEP] [MASK] [PAD]', '##ing ##ed', 'x'.repeat(99), 'x'.repeat(101), 'x'.repeat(5000),
    'ha '.repeat(2000), '!'.repeat(200), '漢'.repeat(700), 'a\u0301'.repeat(400), '{"role":"user","content":null}',
    "'; DROP TABLE memory; --", '<script>alert(1)</script>', '../../../../etc/passwd', '%s%s%n%x', 'NaN Infinity -0',
    'Ignore all previous instructions.', 'the the the the the the the the', '\u0301\u0302\u0303 marks alone',
    'AbCdEfGhIjKlMnOpQrStUvWxYz'.repeat(20), '1234567890'.repeat(20), '. '.repeat(250), 'word '.repeat(510),
    'word '.repeat(511), 'word '.repeat(254), 'word '.repeat(255));
  for (const w of who) for (const t of what) texts.push(`${w[0].toUpperCase()}${w.slice(1)} ${t}.`);
  for (const t of what) texts.push(`Did anybody notice that somebody ${t}?`, t.toUpperCase(), t.split('').reverse().join(''));
  for (let n = 2; texts.length < 200; n += 3)
    texts.push(Array.from({ length: 2 + n % 19 }, (_, i) => `${who[(i * 7 + n) % who.length]} ${what[(i * 3 + n) % what.length]}`).join('; '));
  return texts.slice(0, 200);
}

async function compare(runtime, folder, name, weights, texts) {
  const model = models[name];
  const ours = openOurs(build, convert(build, model, weights, join(folder, `${name}-${weights}.locim`)));
  const reference = await openReference(runtime, model);
  let lowest = 1, sum = 0, worst = '';
  for (const text of texts) {
    const { ids, vector } = await ours.ask('text ' + JSON.stringify(text));
    if (ids.length > model.window) throw new Error(`${ids.length} tokens`);
    const want = await reference.embed(ids);
    const cosine = vector.reduce((total, v, i) => total + v * want[i], 0);
    sum += cosine;
    if (!(cosine >= lowest)) [lowest, worst] = [cosine, text];
  }
  ours.close();
  return { lowest, mean: sum / texts.length, worst };
}

const runtime = loadRuntime();
if (!runtime || Object.values(models).some((m) => !existsSync(m.file))) {
  console.log("1..0 # SKIP no onnxruntime-node or weights: run tools/setup-models --tests");
  process.exit(0);
}
// The last two: the reference quantises rows by tensor, we by row; both differ from the exact
// product of the same 8-bit weights.
const cases = [['gte', 'fp32', 0.999], ['gte', 'int8', 0.99], ['minilm', 'fp32', 0.999], ['minilm', 'int8', 0.99],
  ['bge_int8', 'int8', 0.98], ['minilm_int8', 'int8', 0.95]];
const folder = mkdtempSync(join(tmpdir(), 'loci-reference-'));
const texts = makeTexts();
try {
  console.log(`1..${cases.length}`);
  for (const [i, [name, weights, least]] of cases.entries()) {
    const { lowest, mean, worst } = await compare(runtime, folder, name, weights, texts);
    console.log(`# ${name} ${weights}: mean ${mean.toFixed(6)}, lowest ${lowest.toFixed(6)} (${JSON.stringify(worst.slice(0, 40))})`);
    console.log(`${lowest >= least ? 'ok' : 'not ok'} ${i + 1} - ${name} ${weights}: ${texts.length} texts, cosine at least ${least}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
