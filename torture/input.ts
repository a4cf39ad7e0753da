import { pick, seededRandom, type Random } from '#acuity/base/random.js';
import type { SeriesLimits } from '#rules/fields.js';
import { Connection, type Reply } from '#acuity/load/connection.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { readPlainly, type PlainOutcome } from '#fixtures/plainReader.js';
import { RequestText, mutated } from '#fixtures/requestText.js';
import { startServer, type RunningServer } from '#fixtures/server.js';
import { isSame, requestTo, scoresOf } from './knownAnswers.js';
import { leftBehind } from '#fixtures/atRest.js';
import { Count, type Form, type Part } from './part.js';

/** Bodies of every kind over HTTP; each answer is checked against plain code over `JSON.parse`. */

/** Small, so that series reach them. */
const LIMITS: SeriesLimits = { daySamplesMax: 20, nightSamplesMax: 30 };
const BODIES: Readonly<Record<Form, number>> = { short: 4_000, long: 1_000_000 };
const CONNECTIONS = 16;
const FINDINGS_MAX = 8;
/** Every n-th scored body is sent again, as `JSON.stringify` writes it. */
const AGAIN_EVERY = 16;
const SAY_EVERY = 100_000;

export const input: Part = {
  name: 'input',
  about: 'generated and mutated bodies over HTTP, against JSON.parse and a plain reader of the contract',
  beyond: 'the parser as it is compiled, over real connections',
  async run(scope, { form, seed, say }) {
    const server = await startServer(scope, {
      env: {
        ACUITY_DAY_SAMPLES_MAX: String(LIMITS.daySamplesMax),
        ACUITY_NIGHT_SAMPLES_MAX: String(LIMITS.nightSamplesMax),
        ACUITY_LOG_LEVEL: 'fatal',
      },
    });
    const run = new InputRun(server, new WasmParser(LIMITS));
    const callers = Array.from({ length: CONNECTIONS }, async (_, caller) => {
      const connection = await Connection.open(server.port);
      const bodies = bodiesFrom(seededRandom(seed * 1_000 + caller));
      while (run.answers.tried < BODIES[form]) {
        await run.tryBody(connection, bodies());
        if (run.answers.tried % SAY_EVERY === 0) say(`${run.answers.tried} bodies`);
      }
      connection.close();
    });
    await Promise.all(callers);
    const rest = new Count();
    rest.add(await leftBehind(server));
    return [
      run.answers.trial('the answer is what plain code says', run.figure()),
      run.again.trial('the same JSON, written plainly, gets the same scores'),
      rest.trial('nothing is left behind'),
    ];
  },
};

/** Plain, unusual and mutated bodies, and sometimes bytes that are not JSON. */
function bodiesFrom(random: Random): () => Buffer {
  const plain = new RequestText(random, true);
  const odd = new RequestText(random, false);
  return () => {
    const kind = random();
    if (kind < 0.02) return Buffer.from(Array.from({ length: 40 * random() }, () => 256 * random()));
    if (kind < 0.05) return Buffer.from(pick(random, EDGES));
    const text = (kind < 0.5 ? plain : odd).body();
    return kind < 0.25 || kind > 0.9 ? Buffer.from(text) : mutated(random, text);
  };
}

/** Values from the test suites of JSON readers, as bodies and as parts of them. */
const VALUES = [
  '',
  ' ',
  '\ufeff{}',
  'null',
  'true',
  '7',
  '"a"',
  '[]',
  '{}',
  '[[]]',
  '{"":0}',
  '{"a":1,"a":2}',
  '\u0000',
  '1e400',
  '-1e400',
  '1E-400',
  '-0',
  '-0.0',
  '0e1',
  '1.7976931348623157e308',
  '5e-324',
  '123123e100000',
  '01',
  '1.',
  '.1',
  '+1',
  '1e',
  '1e+',
  '--1',
  '0x1',
  '1_0',
  'Infinity',
  'NaN',
  '-',
  '- 1',
  '1 000',

  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\uD834\\uDd1e"',
  '"\\x"',
  '"\\u12"',
  '"\t"',
  "'a'",
  '"a',

  '[1,]',
  '[,1]',
  '[1 2]',
  '{"a":1,}',
  '{,}',
  '{"a"}',
  '{a:1}',
  '{"a":1 "b":2}',
  '[1}',
  '{]',
  '[',
  '{"a":',
  '/**/{}',
  '{}//',
  '{}{}',
  '[]]',
  '{"__proto__":{"age":7}}',
  '{"constructor":1}',
  '{"a":truE}',
  'nul',

  '\u00a0{}',
  '\u2028{}',
  '\f{}',
  '"\u007f"',
  '"\u2028"',
  '"\ud83d\ude00"',
  '['.repeat(65),
  '['.repeat(64),
];
const EDGES = VALUES.flatMap((value) => [
  value,
  `{"current_session":${value}}`,
  `{"current_session":{"age":${value}}}`,
  `{"current_session":{"HR_night":[60,${value}]}}`,
  `{"current_session":{},"note":${value}}`,
  `{"current_session":{},"past_sessions":${value},"past_targets":${value}}`,
]);

class InputRun {
  readonly answers = new Count();
  readonly again = new Count();
  private readonly kinds = { malformed: 0, unprocessable: 0, request: 0 };

  constructor(
    private readonly server: RunningServer,
    private readonly parser: WasmParser,
  ) {}

  async tryBody(connection: Connection, body: Buffer): Promise<void> {
    const expected = readPlainly(body, LIMITS, this.parser);
    this.kinds[expected.kind]++;
    const reply = await connection.send(requestTo(this.server, body, 'input'));
    const wrong = disagreement(reply, expected);
    this.answers.add(wrong === undefined ? undefined : `${wrong}: ${body.toString('base64')}`);
    if (reply.status === 200 && this.kinds.request % AGAIN_EVERY === 0)
      await this.sendAgain(connection, body, reply);
  }

  figure(): string {
    const { malformed, unprocessable, request } = this.kinds;
    return `${malformed} malformed, ${unprocessable} refused, ${request} scored`;
  }

  private async sendAgain(connection: Connection, body: Buffer, first: Reply): Promise<void> {
    const plain = Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    const { status, body: text } = await connection.send(requestTo(this.server, plain, 'again'));
    const holds = status === 200 && isSame(scoresOf(text), scoresOf(first.body));
    this.again.add(holds ? undefined : `${status} ${text}, first ${first.body}: ${body.toString('base64')}`);
  }
}

/** The difference of an answer from what plain code expects. */
function disagreement({ status, body }: Reply, expected: PlainOutcome): string | undefined {
  const answer = JSON.parse(body) as { readonly detail?: unknown };
  switch (expected.kind) {
    case 'malformed': {
      const isTold = status === 400 && /^Malformed JSON at byte \d+$/.test(String(answer.detail));
      return isTold ? undefined : `${status} ${body}, not malformed`;
    }
    case 'unprocessable':
      return status === 422 && isFound(answer.detail, expected.places)
        ? undefined
        : `${status} ${body}, not ${expected.places.join()}`;
    case 'request':
      return status === 200 && scoresOf(body).every((score) => score >= 0 && score <= 100)
        ? undefined
        : `${status} ${body}, not scored`;
  }
}

/** The schema decides the order within one target, and which findings are reported if there are too many. */
function isFound(detail: unknown, places: readonly string[]): boolean {
  const found = (detail as readonly { readonly loc: readonly unknown[]; readonly type: string }[]).map(
    ({ loc, type }) => `${loc.join('.')} ${type}`,
  );
  if (found.length === FINDINGS_MAX && places.length === FINDINGS_MAX) return true;
  return found.toSorted().join() === places.toSorted().join();
}
