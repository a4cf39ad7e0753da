import t, { type Test } from 'tap';
import { DEFAULT_SERIES_LIMITS, NUMBER_BOUNDS } from '#rules/fields.js';
import { seededRandom } from '#acuity/base/random.js';
import { VERSION, sealedText } from '#acuity/night/history/form.js';
import { adjustedRow } from '#acuity/night/measuredRow.js';
import { LAYOUT } from '#acuity/night/layout.js';
import { SCALAR_PLACES, summaryAt } from '#acuity/night/places.js';
import { createReader, isBodyProblem } from '#acuity/read/read.js';
import { chainOf, historyReader } from '../../fixtures/histories.js';
import { CONSTANTS } from '../../fixtures/measured.js';

/** Changed histories with a right checksum; a long run takes millions. */
const CASES = Number(process.env['HISTORY_CASES'] ?? 20_000);

const CRC_BYTES = 4;
const random = seededRandom(7);
const parser = historyReader();

const LONG = chainOf(random, 40, { isFull: true });
/** Histories of few and of many nights, of sparse sessions and of full ones, with measurements and without; the last has eight of each score, and sums of older ones. */
const TEXTS = [
  ...[1, 3, 6, 7, 40].map((nights) => chainOf(random, nights)),
  ...[1, 3, 6, 7].map((nights) => chainOf(random, nights, { isFull: true })),
  LONG,
  ...[1, 3].map((nights) => chainOf(random, nights, { measured: 1 })),
  chainOf(random, 9, { measured: 30 }),
];

const readRequest = createReader(DEFAULT_SERIES_LIMITS);

/** Whether a text is a history, in a body and by itself, and its bytes are one. */
function isTaken(text: string): boolean {
  const body = JSON.stringify({ current_session: {}, history: text });
  const isTakenIn = parser.read(Buffer.from(body)) !== undefined;
  if (parser.readHistoryText(text) !== isTakenIn) throw new Error(`differs without a body: ${text}`);
  const bytes = Buffer.from(text.slice(VERSION.length), 'base64url').subarray(0, -CRC_BYTES);
  if (isTakenIn && !parser.readHistoryBytes(bytes, bytes.length))
    throw new Error(`its bytes are none: ${text}`);
  return isTakenIn;
}

function isRefused(history: string): boolean {
  const outcome = readRequest(Buffer.from(JSON.stringify({ current_session: {}, history })), CONSTANTS);
  if (!isBodyProblem(outcome) || outcome.kind !== 'unprocessable') return false;
  const found = outcome.findings.map(({ loc, type }) => `${loc.join('.')} ${type}`);
  return found.join() === 'body.history history_invalid';
}

function refusesAll(t: Test, damaged: readonly string[]): void {
  for (const [index, text] of damaged.entries())
    if (isTaken(text) || (index % 50 === 0 && !isRefused(text)))
      t.fail(`not refused: ${text.slice(0, 3_000)}`);
  t.pass();
}

t.test('every character changed, every length cut: no such text is a history', async (t) => {
  const others = ['A', 'b', '_', '-', '+', '/', '=', ' ', '.', '\u0000', 'é'];
  for (const text of TEXTS) {
    t.ok(isTaken(text));
    const places = Array.from(text, (character, at) =>
      others
        .filter((other) => other !== character)
        .map((other) => text.slice(0, at) + other + text.slice(at + 1)),
    );
    refusesAll(t, [
      ...places.flat(),
      ...Array.from({ length: text.length - 1 }, (_, at) => text.slice(0, 1 + at)),
    ]);
  }
});

t.test('what is longer, doubled, of another version or alphabet, or no history is refused', async (t) => {
  const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffdb0043000302020302020303030304', 'hex');
  const sealed = LONG.slice(VERSION.length);
  const bytes = Buffer.from(sealed, 'base64url');
  refusesAll(t, [
    ...TEXTS.flatMap((text) => [
      `${text}A`,
      `${text}=`,
      `${text}\n`,
      ` ${text}`,
      text + text,
      text.toUpperCase(),
    ]),
    ...['acu0.', 'acu9.', 'ACU1.', 'acu1', 'acu1:', ''].map((version) => version + sealed),
    ...[
      '',
      bytes.toString('base64'),
      bytes.toString('hex'),
      jpeg.toString('base64url'),
      'A'.repeat(2 << 20),
    ].map((text) => VERSION + text),
    ...'x null {}'.split(' '),
    jpeg.toString('latin1'),
    `${LONG}${' '.repeat(2 << 20)}`,
  ]);
});

t.test('a history that was written earlier is read as it was written', async (t) => {
  t.ok(isTaken('acu1.AQCJAiFOAIgTiBOIE4gTiBNwF6APAAAAAAAAPkAAAAAAAABSQAAAAKSO4wc'));
  const { records, targets } = parser.desk.history;
  const places = [SCALAR_PLACES.age, SCALAR_PLACES.sex, summaryAt(0, 'HR_day_1h') + LAYOUT.LEVEL];
  const read = [...places.map((place) => records[place]), ...targets.subarray(5, 7)];
  t.strictSame(read, [30, -1, 72, 1, -1], 'another form needs another VERSION, and a reader of this one');
});

/** The text of a history whose bytes `change` has changed, with a right checksum. */
function resealed(text: string, change: (bytes: Buffer) => unknown): string {
  const bytes = Buffer.from(text.slice(VERSION.length), 'base64url');
  const sealed = bytes.subarray(0, -CRC_BYTES);
  const changed = change(sealed);
  return sealedText(Buffer.concat([changed instanceof Buffer ? changed : sealed, Buffer.alloc(CRC_BYTES)]));
}

/** What is wrong with the history that was read last, sealed as `text`. */
function unsound(text: string): string | undefined {
  const { history } = parser.desk;
  const { count, records, targets, chances, longRun } = history;
  const all = [...targets.subarray(0, 7 * count), ...longRun.weights, ...longRun.means, ...longRun.spreads];
  if (!all.every(Number.isFinite)) return 'a number that is none';
  if (!targets.subarray(0, 7 * count).every((value) => value >= -1 && value <= 100)) return 'a score';
  if (!chances.subarray(0, 2 * count).every((value) => Number.isNaN(value) || (value >= 0 && value <= 1)))
    return 'a chance';
  for (let index = 0; index < count; index++) {
    for (const [field, { minimum, maximum, isWhole }] of Object.entries(NUMBER_BOUNDS)) {
      const value = records[index * LAYOUT.RECORD_LENGTH + SCALAR_PLACES[field as 'age']] ?? NaN;
      if (Number.isNaN(value)) continue;
      if (value < minimum || value > maximum || (isWhole && !Number.isInteger(value))) return field;
    }
  }
  for (const [index, score] of history.measurements.scores.entries()) {
    const { kept = [], older } = score ?? {};
    if (score !== undefined && (kept.length === 0 || kept.length > 8)) return 'so many measurements';
    const isLabel = index > 3;
    const areSound = kept.every(
      ({ value, reliability }) =>
        reliability >= 0.05 &&
        reliability <= 0.99 &&
        (isLabel ? [0, 100].includes(value) : value >= 0 && value <= 100),
    );
    const days = [older?.day ?? -1, ...kept.map(({ day }) => day)];
    if (!areSound || days.some((day, at) => day <= (days[at - 1] ?? -2))) return 'a measurement';
  }
  parser.blank(0);
  const row = { scores: Float32Array.of(0, 0, 50, 99, 100, 0, 1), offset: 0 };
  const { adjustments } = parser.desk.take({ day: 20_100, given: [] }, CONSTANTS).next;
  const answered = adjustments === undefined ? [] : adjustedRow(adjustments, row.scores, 0);
  if (!answered.every((value, at) => value >= 0 && value <= (at < 5 ? 100 : 1)))
    return 'a score that is moved';
  if (!parser.readHistoryText(text)) return 'read once only';
  return parser.desk.text() === text ? undefined : 'another encoding of the same';
}

t.test('under a right checksum an accepted history is valid and has one encoding', async (t) => {
  let taken = 0;
  for (let index = 0; index < CASES; index++) {
    const text = resealed(TEXTS[index % TEXTS.length] ?? '', (bytes) => {
      for (let edits = 1 + Math.floor(3 * random() ** 3); edits > 0; edits--) {
        const at = Math.floor(bytes.length * random());
        bytes[at] =
          random() < 0.3 ? (bytes[at] ?? 0) ^ (1 << Math.floor(8 * random())) : Math.floor(256 * random());
      }
      const cut = random();
      if (cut < 0.05) return bytes.subarray(0, Math.floor(bytes.length * random()));
      return cut < 0.1 ? Buffer.concat([bytes, bytes.subarray(0, Math.floor(20 * random()))]) : bytes;
    });
    if (!isTaken(text)) continue;
    taken++;
    const wrong = unsound(text);
    if (wrong !== undefined) return t.fail(`${wrong}: ${text}`);
  }
  t.ok(taken > CASES / 20 && taken < CASES, `${taken} of ${CASES} were taken`);
});
