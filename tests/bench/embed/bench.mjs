// Texts per second of one core: our forward pass beside ONNX Runtime, each on one thread, in turns of
// a fraction of a second so that a noisy machine is noisy for both. Processor time is counted, not
// the clock; of the turns the best one counts. Both read the same weights. ONNX Runtime is called
// through its Node binding, whose cost is in its figures and weighs most for 10 tokens.
//
//   node bench.mjs BUILD [--quick]
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convert, loadRuntime, models, openOurs, openReference } from '../../unit/embed/onnx_reference.mjs';

const build = process.argv[2];
const quick = process.argv.includes('--quick');
const turns = quick ? 4 : 10, turnMs = quick ? 150 : 400;

const cases = [['gte', 'fp32'], ['minilm', 'fp32'], ['bge_int8', 'int8'], ['minilm_int8', 'int8'], ['gte', 'int8']];

async function referenceTurn(reference, fed) {
  const start = process.cpuUsage();
  for (let texts = 1; ; texts++) {
    await reference.run(fed);
    const { user, system } = process.cpuUsage(start);
    if (user + system >= turnMs * 1000) return texts / ((user + system) / 1e6);
  }
}

const rate = ({ texts, seconds }) => texts / seconds;

async function compare(ours, reference, tokens) {
  const ids = Array.from({ length: tokens }, (_, i) => 2000 + i * 37);
  ids[0] = 101;
  ids[tokens - 1] = 102;
  const fed = reference && reference.feeds(ids);
  const best = { one: 0, eight: 0, theirs: 0 };
  for (let turn = 0; turn < turns; turn++) {
    best.one = Math.max(best.one, rate(await ours.ask(`speed ${tokens} 1 ${turnMs}`)));
    if (reference) best.theirs = Math.max(best.theirs, await referenceTurn(reference, fed));
    best.eight = Math.max(best.eight, rate(await ours.ask(`speed ${tokens} 8 ${turnMs}`)));
  }
  return best;
}

const runtime = loadRuntime();
if (!runtime || Object.values(models).some((m) => !existsSync(m.file))) {
  console.log('embed: skipped; run tools/setup-models --tests');
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'loci-bench-'));
const cell = (value, width) => String(value).padStart(width);
console.log('embedding, texts per second of one core       tokens     loci  8 at once  ONNX Runtime    ratio');
try {
  for (const [name, weights] of cases) {
    const file = convert(build, models[name], weights, join(folder, 'model.locim'));
    const ours = openOurs(build, file);
    // Our 8-bit gte-small has no counterpart among the packages.
    const reference = name === 'gte' && weights === 'int8' ? null : await openReference(runtime, models[name]);
    for (const tokens of [10, 40, 250]) {
      const { one, eight, theirs } = await compare(ours, reference, tokens);
      console.log(`  ${(name.replace('_int8', '') + ' ' + weights).padEnd(44)}${cell(tokens, 6)}${cell(one.toFixed(1), 9)}` +
        `${cell(eight.toFixed(1), 11)}${cell(theirs ? theirs.toFixed(1) : '-', 14)}${cell(theirs ? (one / theirs).toFixed(2) : '-', 9)}`);
    }
    const { open_ms, anonymous_kb } = await ours.ask('memory');
    console.log(`    opened in ${open_ms.toFixed(2)} ms; ${(anonymous_kb / 1024).toFixed(1)} MB of memory beyond the mapped file`);
    ours.close();
  }
} finally {
  rmSync(folder, { recursive: true });
}
