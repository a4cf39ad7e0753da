import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBundle, type Bundle } from '#acuity/model/bundle.js';
import { hasPaced } from '#bench/load/paced.js';
import { MODEL_FOLDER } from '#bench/paths.js';
import { issueKey } from '#bench/server/key.js';
import { startServer } from '#bench/server/process.js';
import { goldenQuestions, questionsOf, type Question } from './answers.js';
import { Interleaving, type Contender } from './interleaving.js';
import type { ComparisonOptions } from './options.js';
import { textsOf, type BenchPayload } from './payload.js';
import { goalSteps, longStep, type Step } from './plan.js';
import type { Comparison } from './result.js';

/** Starts the peers, compares their answers with the model's, then measures them in turn. */
export async function compare(options: ComparisonOptions, say: (line: string) => void): Promise<Comparison> {
  const folder = await mkdtemp(join(tmpdir(), 'acuity-bench-'));
  const contenders: Contender[] = [];
  const { steps, last } = stepsOf(options);
  const peers = new Map([...steps, ...last].flatMap((step) => step.peers).map((peer) => [peer.name, peer]));
  try {
    const key = await issueKey(folder);
    const bundle = await loadBundle(MODEL_FOLDER);
    for (const peer of peers.values()) {
      say(`starting ${peer.name}: ${peer.what}`);
      contenders.push({ peer, server: await startServer(peer.command(key), folder) });
    }
    const questions = await questionsByPayload(bundle, steps);
    return await new Interleaving({ options, steps, last, contenders, key, questions, say }).run(
      goldenQuestions(bundle),
    );
  } finally {
    await Promise.all(contenders.map(({ server }) => server.stop()));
    await rm(folder, { recursive: true });
  }
}

/** The steps of every repetition, and those done once after them. */
function stepsOf(options: ComparisonOptions): {
  readonly steps: readonly Step[];
  readonly last: readonly Step[];
} {
  const { isForGoals, isShort, modes, payloads, connections, peers, seconds } = options;
  if (isForGoals) return { steps: goalSteps(seconds, hasPaced()), last: isShort ? [] : [longStep()] };
  const steps = modes.flatMap((mode) =>
    payloads.flatMap((payload) =>
      (mode === 'alone' ? [1] : connections).map((count) => ({
        mode,
        payload,
        connections: count,
        peers,
        seconds,
      })),
    ),
  );
  return { steps, last: [] };
}

async function questionsByPayload(
  bundle: Bundle,
  steps: readonly Step[],
): Promise<ReadonlyMap<BenchPayload, readonly Question[]>> {
  const questions = new Map<BenchPayload, readonly Question[]>();
  for (const payload of new Set(steps.map((step) => step.payload))) {
    questions.set(payload, await questionsOf(bundle, textsOf(payload)));
  }
  return questions;
}
