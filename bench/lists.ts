import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { markdownTable } from '#acuity/base/table.js';
import { NDJSON_TYPE } from '#acuity/contract/mediaTypes.js';
import type { Load } from '#acuity/load/measurement.js';
import { pairwise, spreadOf } from '#acuity/load/statistics.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { LINES_MAX } from '#rules/structure.js';
import { differenceOf, questionsOf, wrongAnswers, type Question } from './comparison/answers.js';
import { payloadsNamed, textsOf, type BenchPayload } from './comparison/payload.js';
import { closedLoopWithAutocannon } from './load/autocannon.js';
import { closedLoopWithWrk, hasWrk } from './load/wrk.js';
import { MODEL_FOLDER } from './paths.js';
import { ACUITY } from './peers/catalogue.js';
import { issueKey } from './server/key.js';
import { startServer, type ServerProcess } from './server/process.js';
import { UsageError } from './usage.js';

const PAYLOADS_MEASURED = 'baseline,history,history-field';
const LINES_MEASURED = '16,64,256';
const CONNECTIONS_OF_SINGLES = 64;
/** Lines under way at once: lists of few lines have more connections. */
const LINES_UNDER_WAY = 512;
/** The default of the service. */
const BODY_BYTES_MAX = 4_194_304;
const WARM_UP_SECONDS = 1;

export const USAGE = `npm run bench -- lists [options]

  --payloads NAMES   of requests and lines (default ${PAYLOADS_MEASURED})
  --lines N,…        of each list (default ${LINES_MEASURED}; at most ${LINES_MAX})
  --repetitions N    of everything, one after the other (default 5)
  --seconds N        of each measurement (default 3)
  --deadline-ms N    of the service (default 10000): a full machine may take longer than its usual second

Processor time and throughput of a scored line in lists, against requests of their own. A list beyond the ${BODY_BYTES_MAX / 2 ** 20} MiB
of a body is left out, which is said.`;

interface Settings {
  readonly payloads: readonly BenchPayload[];
  readonly lines: readonly number[];
  readonly repetitions: number;
  readonly seconds: number;
  readonly deadlineMs: number;
}

/** What is sent: requests of their own, or lists of so many. */
interface Kind {
  readonly name: string;
  readonly lines: number;
  readonly load: Omit<Load, 'seconds'>;
}

interface Cost {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

/** What a request costs as a line of a list. @throws UsageError */
export async function runLists(args: readonly string[]): Promise<void> {
  const settings = parse(args);
  const folder = await mkdtemp(join(tmpdir(), 'acuity-bench-'));
  try {
    const key = await issueKey(folder);
    const command = ACUITY.command(key);
    const env = { ...command.env, ACUITY_DEADLINE_MS: String(settings.deadlineMs) };
    const server = await startServer({ ...command, env }, folder);
    try {
      const sections: string[] = [];
      for (const payload of settings.payloads)
        sections.push(await measured(server, key.key, payload, settings));
      process.stdout.write(`${heading(settings)}\n\n${sections.join('\n\n')}\n`);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

function heading({ repetitions, seconds }: Settings): string {
  return (
    `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}; ` +
    `${repetitions} repetitions of ${seconds} s in turns: the median, and least to most; every answer was checked before`
  );
}

/** The table of a payload. @throws Error where an answer is wrong or missing */
async function measured(
  server: ServerProcess,
  key: string,
  payload: BenchPayload,
  { lines, repetitions, seconds }: Settings,
): Promise<string> {
  const target = { port: server.port, key };
  const questions = await questionsOf(await loadBundle(MODEL_FOLDER), textsOf(payload));
  const wrong = await wrongAnswers(target, questions, { connections: 4, rounds: 1 });
  if (wrong.length > 0) throw new Error(`${payload}: ${wrong.join('; ')}`);
  const singles: Kind = {
    name: 'requests of their own',
    lines: 1,
    load: { target, bodies: questions.map(({ body }) => body), connections: CONNECTIONS_OF_SINGLES },
  };
  const kinds = [singles];
  const leftOut: string[] = [];
  for (const count of lines) {
    const asked = Array.from({ length: count }, (_, line) => questionAt(questions, line));
    const body = asked.map((question) => `${question.body}\n`).join('');
    const bytes = Buffer.byteLength(body);
    if (bytes > BODY_BYTES_MAX) {
      leftOut.push(`Lists of ${count} are left out: ${bytes} bytes, more than a body may have.`);
      continue;
    }
    const connections = Math.max(2, Math.ceil(LINES_UNDER_WAY / count));
    const load = { target, bodies: [body], connections, mediaType: NDJSON_TYPE };
    await checkList(load, asked);
    kinds.push({ name: `lists of ${count}`, lines: count, load });
  }
  const costs = new Map<Kind, Cost[]>(kinds.map((kind) => [kind, []]));
  for (const kind of kinds) await costOf(server, kind, WARM_UP_SECONDS);
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const kind of repetition % 2 === 0 ? kinds : kinds.toReversed())
      costs.get(kind)?.push(await costOf(server, kind, seconds));
  }
  return [table(payload, singles, costs), ...leftOut].join('\n\n');
}

function questionAt(questions: readonly Question[], line: number): Question {
  const question = questions[line % questions.length];
  if (question === undefined) throw new RangeError('a payload without bodies');
  return question;
}

/** @throws Error where a line has not the scores that the request has alone */
async function checkList({ target, bodies }: Kind['load'], asked: readonly Question[]): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${target.port}/predict`, {
    method: 'POST',
    headers: { 'X-API-Key': target.key, 'Content-Type': NDJSON_TYPE },
    body: bodies.join(''),
  });
  const text = await answer.text();
  const answers = text.trimEnd().split('\n');
  if (answer.status !== 200 || answers.length !== asked.length)
    throw new Error(`a list of ${asked.length}: status ${answer.status}, ${answers.length} lines`);
  for (const [line, { expected }] of asked.entries()) {
    const body = answers[line] ?? '';
    const difference = differenceOf({ status: statusIn(body), body }, expected);
    if (difference !== undefined) throw new Error(`line ${line} of ${asked.length}: ${difference}`);
  }
}

/** A line without a status was scored. */
function statusIn(line: string): number {
  return (JSON.parse(line) as { readonly status?: number }).status ?? 200;
}

async function costOf(server: ServerProcess, { name, lines, load }: Kind, seconds: number): Promise<Cost> {
  const refused = await refusals(server);
  const before = server.cpuMicros();
  const run = hasWrk() ? closedLoopWithWrk : closedLoopWithAutocannon;
  const seen = await run({ ...load, seconds });
  const answered = seen.requests * lines;
  const cost = {
    cpuMicros: (server.cpuMicros() - before) / answered,
    perSecond: answered / seen.seconds,
  };
  if (seen.requests === 0) throw new Error(`${name}: no answer within ${seconds} s; use more --seconds`);
  if (seen.errors > 0) throw new Error(`${name}: ${seen.errors} without a 200`);
  // A list is answered with 200 also where some of its lines are refused.
  const more = (await refusals(server)) - refused;
  if (more > 0) throw new Error(`${name}: ${more} lines or requests were refused`);
  return cost;
}

/** Requests and lines that the service has refused so far. */
async function refusals({ adminPort }: ServerProcess): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  let sum = 0;
  for (const [, value] of text.matchAll(/^acuity_refusals_total\{[^}]*\} (\S+)$/gm)) sum += Number(value);
  return sum;
}

function table(payload: BenchPayload, singles: Kind, costs: ReadonlyMap<Kind, readonly Cost[]>): string {
  const alone = costs.get(singles) ?? [];
  const rows = [...costs].map(([{ name }, seen]) => {
    const of = (valueOf: (cost: Cost) => number, digits: number): string[] => {
      const [values, others] = [seen.map(valueOf), alone.map(valueOf)];
      return [
        spread(values, digits),
        spread(
          pairwise(values, others, (value, other) => value / other),
          2,
        ),
      ];
    };
    return [name, ...of(({ cpuMicros }) => cpuMicros, 1), ...of(({ perSecond }) => perSecond, 0)];
  });
  return markdownTable([[payload, 'CPU µs each', '× alone', 'scored a second', '× alone'], ...rows], {
    alignsRight: true,
  });
}

/** "median (least–most)" */
function spread(values: readonly number[], digits: number): string {
  const { median, min, max } = spreadOf(values);
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

function parse(args: readonly string[]): Settings {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        payloads: { type: 'string', default: PAYLOADS_MEASURED },
        lines: { type: 'string', default: LINES_MEASURED },
        repetitions: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '3' },
        'deadline-ms': { type: 'string', default: '10000' },
      },
    });
    const lines = values.lines.split(',').map(whole);
    if (lines.some((count) => count > LINES_MAX)) throw new Error(`a list has at most ${LINES_MAX} lines`);
    return {
      payloads: payloadsNamed(values.payloads),
      lines,
      repetitions: whole(values.repetitions),
      seconds: whole(values.seconds),
      deadlineMs: whole(values['deadline-ms']),
    };
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function whole(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${text} is no whole number above 0`);
  return Number(text);
}
