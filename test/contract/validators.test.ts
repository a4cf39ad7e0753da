import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import type { SeriesLimits } from '#rules/fields.js';
import { openapiDocument } from '#acuity/contract/openapi.js';
import { seededRandom } from '#acuity/base/random.js';
import { createReader, isBodyProblem } from '#acuity/read/read.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { readRecordingOf } from '#acuity/read/readRecording.js';
import { isJson } from '../fixtures/bodyVerdict.js';
import { scoreRecord } from '../fixtures/bodies.js';
import { randomRecord, step } from '../fixtures/histories.js';
import { CONSTANTS } from '../fixtures/measured.js';
import { RequestText } from '../fixtures/requestText.js';

/** The published document against the reader that serves. */

const CASES = Number(process.env['FUZZ_CASES'] ?? 6000);
const LIMITS: SeriesLimits = { daySamplesMax: 20, nightSamplesMax: 30 };

const document = new Ajv2020({
  strict: false,
  strictNumbers: true,
  validateFormats: false,
  logger: false,
}).compile({
  $ref: '#/components/schemas/PredictionRequest',
  components: openapiDocument({ version: '0.0.0', model: 'test/1', limits: LIMITS })['components'],
});

const read = createReader(LIMITS);

interface Json {
  readonly [field: string]: unknown;
}

/** What no schema says: units, damage of a history, how lists and days go together, and how deep JSON may be. */
const BEYOND_SCHEMAS = new Set(['unit_error', 'history_invalid', 'value_error', 'date_type', 'missing']);

/** Undefined where both say the same of a body. */
function disagreement(text: string): string | undefined {
  const body = JSON.parse(text) as Json | null;
  // Without a history the night is not looked at.
  const isDocumented = document(
    (body?.['history'] ?? undefined) === undefined ? { ...body, night: null } : body,
  );
  const outcome = read(Buffer.from(text), CONSTANTS);
  if (!isBodyProblem(outcome)) return isDocumented ? undefined : 'the document refuses what is read';
  if (!isDocumented || outcome.kind === 'malformed') return undefined;
  const schematic = outcome.findings.filter(({ type, loc }) => !BEYOND_SCHEMAS.has(type) && loc.length > 1);
  return schematic.length === 0 ? undefined : `the document takes ${JSON.stringify(schematic)}`;
}

t.test('the published document takes what is read, and refuses what is refused', async (t) => {
  const random = seededRandom(Number(process.env['FUZZ_SEED'] ?? 1));
  const texts = [new RequestText(random, false), new RequestText(random, true)];
  const seen = { taken: 0, refused: 0 };
  for (let count = 0; count < CASES; count++) {
    const text = texts[count % 2]?.body() ?? '';
    if (!isJson(Buffer.from(text))) continue;
    const wrong = disagreement(text);
    if (wrong !== undefined) t.fail(wrong, { text });
    seen[document(JSON.parse(text)) ? 'taken' : 'refused']++;
  }
  t.ok(Math.min(seen.taken, seen.refused) > CASES / 20, `both occur: ${JSON.stringify(seen)}`);
});

t.test('the document and the reader agree on what needs or excludes a history', async (t) => {
  const parser = new WasmParser(LIMITS);
  const { text } = step(parser, '', NaN, randomRecord(seededRandom(1)));
  const past = (length: number): Json => ({
    past_sessions: Array.from({ length }, () => ({})),
    past_targets: Array.from({ length }, () => scoreRecord()),
  });
  const pasts = [{}, past(0), past(2), { past_target: [] }];
  const histories = [{}, { history: null }, { history: '' }, { history: text }];
  const nights = [{}, { night: null }, { night: '2026-11-21' }];
  const measured = [{ score: 'attention', value: 71 }];
  const lists = [{}, { measurements: null }, { measurements: [] }, { measurements: measured }];
  const bodies = pasts.flatMap((one) =>
    histories.flatMap((two) =>
      nights.flatMap((three) => lists.map((four) => ({ ...one, ...two, ...three, ...four }))),
    ),
  );
  const accepted = bodies.filter((parts) => {
    const body = { current_session: {}, ...parts };
    const isRead = !isBodyProblem(read(Buffer.from(JSON.stringify(body)), CONSTANTS));
    t.equal(document(body), isRead, JSON.stringify(body));
    return isRead;
  });
  t.ok(accepted.length > 20 && accepted.length < bodies.length - 20, 'both answers occur');
});

t.test('the document and the reader agree on what may stand beside a recording or a test', async (t) => {
  const recording = { provider: 'oura', sleep: [] };
  const past = (session: Json): Json => ({
    current_session: {},
    past_sessions: [session],
    past_targets: [scoreRecord()],
  });
  const current = (beside: Json): Json => ({ current_session: { recording, ...beside } });
  const measured = (measurement: Json): Json => {
    const given = { history: '', night: '2026-11-21', measurements: [measurement] };
    return { current_session: { age: 30 }, ...given };
  };
  const answers = Array.from({ length: 10 }, () => 2);
  const [plain, tested] = [{ score: 'stress', value: 71 }, { test: 'pss10' }];
  const parser = new WasmParser(LIMITS);
  for (const [body, isRead] of [
    [past({ recording: null }), true],
    [past({ recording }), false],
    [current({ age: 30, HR_night: [], RR_night: null, own: 1 }), true],
    [current({ HR_night: [60] }), false],
    [current({ sleepTimeSeconds: 100 }), false],
    [current({ recording: null, HR_night: [60] }), true],
    [measured(plain), true],
    [measured({ ...tested, answers }), true],
    [measured({ ...tested, result: 20, score: 'stress' }), true],
    [measured({ ...plain, result: 20 }), false],
    [measured({ ...plain, answers }), false],
    [measured({ result: 20 }), false],
    [measured(tested), false],
    [measured({ ...tested, answers, result: 20 }), false],
    [measured({ ...tested, result: 20, value: 71 }), false],
  ] as const) {
    const bytes = Buffer.from(JSON.stringify(body));
    const beside = readRecordingOf(bytes, parser);
    const isRefused =
      beside.kind === 'refused'
        ? JSON.stringify(beside.problem).includes('Beside a recording')
        : isBodyProblem(read(bytes, CONSTANTS));
    t.strictSame([!isRefused, document(body)], [isRead, isRead], JSON.stringify(body));
  }
});
