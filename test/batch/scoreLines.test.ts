import { PassThrough, Writable } from 'node:stream';
import t from 'tap';
import { newTally, scoreLines, type ScoreLinesOptions, type Tally } from '#acuity/batch/scoreLines.js';
import { DEFAULT_SERIES_LIMITS } from '#acuity/contract/request.js';
import { createReader } from '#acuity/pipeline/read.js';
import type { AdmitOutcome, ScoreHandler } from '#acuity/scoring/scorer.js';

const MODEL = { version: 'test', thresholds: { valence: 0.5, arousal: 0.5 } };
const TIMING = { queueMs: 0, dispatchMs: 0, inferMs: 0.25, admittedMs: 0, scoredMs: 0 };

/** A scorer whose answers the test gives: the n-th request it admitted gets n as each score. */
class HandScorer {
  readonly waiting: { readonly number: number; readonly who: ScoreHandler }[] = [];
  admitted = 0;
  outcomes: AdmitOutcome[] = [];

  admit(_request: unknown, who: ScoreHandler): AdmitOutcome {
    const outcome = this.outcomes.shift() ?? 'admitted';
    if (outcome === 'admitted') this.waiting.push({ number: ++this.admitted, who });
    return outcome;
  }

  answer({ number, who }: { readonly number: number; readonly who: ScoreHandler }): void {
    who.scored(Float32Array.of(number, number, number, number, number, 0.9, 0.1), 0, TIMING, MODEL);
  }

  /** Answers what waits, the last first. */
  answerAll(): void {
    for (const waiting of this.waiting.splice(0).toReversed()) this.answer(waiting);
  }
}

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
  get lines(): { C_SCORE?: number; error?: { line: number; status: number; detail: unknown } }[] {
    return this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as object);
  }
}

function options(
  scorer: HandScorer,
  more: Partial<ScoreLinesOptions> = {},
): ScoreLinesOptions & { tally: Tally } {
  const readRequest = createReader(DEFAULT_SERIES_LIMITS);
  const tally = newTally();
  return {
    readRequest,
    scorer,
    inFlightMax: 100,
    lineBytesMax: 1_000,
    tally,
    ...more,
  };
}

const GOOD = '{"current_session":{}}\n';

async function* pieces(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets the scorer answer until the work is done. */
async function answering(scorer: HandScorer, work: Promise<void>): Promise<void> {
  const answers = setInterval(() => scorer.answerAll(), 1);
  try {
    await work;
  } finally {
    clearInterval(answers);
  }
}

t.test('the order of the lines is kept, whatever the order of the answers', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const setup = options(scorer);
  await answering(scorer, scoreLines(pieces(GOOD.repeat(7), GOOD.repeat(3)), output, setup));
  t.strictSame(
    output.lines.map(({ C_SCORE }) => C_SCORE),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
  t.match(setup.tally, { lines: 10, badLines: 0, firstBadLine: 0, bytesRead: 10 * GOOD.length });
  t.equal(
    output.text.split('\n')[0],
    '{"C_SCORE":1,"attention":1,"memory":1,"reasoning":1,"stress":1,"valence":"High","arousal":"Low","inference_time_ms":0.25}',
  );
});

t.test('a bad line says what the service would have said, in its place', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const setup = options(scorer);
  const bad = ['{"current_session":{"age":131}}\n', '\n', '{"current_session":', ' '.repeat(2_000), '\n'];
  await answering(scorer, scoreLines(pieces(GOOD, ...bad, GOOD), output, setup));
  t.match(output.lines, [
    { C_SCORE: 1 },
    {
      error: {
        line: 2,
        status: 422,
        detail: [{ loc: ['body', 'current_session', 'age'], type: 'less_than_equal' }],
      },
    },
    { error: { line: 3, status: 400, detail: 'Malformed JSON at byte 0' } },
    { error: { line: 4, status: 413, detail: 'Request body too large' } },
    { C_SCORE: 2 },
  ]);
  t.match(setup.tally, { lines: 5, badLines: 3, firstBadLine: 2 });
});

t.test('aliases, bounds and contradictions are those of the service', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const lines = [
    '{"current_session":{"HR_night_imputed":[60]}}',
    '{"current_session":{"HR_night":[60],"HR_night_imputed":[61]}}',
    '{"current_session":{"sleepTimeSeconds":420,"deepSleepSeconds":90,"remSleepSeconds":100}}',
    '['.repeat(65),
  ];
  await answering(scorer, scoreLines(pieces(`${lines.join('\n')}\n`), output, options(scorer)));
  const refused = (line: number, loc: readonly string[], type: string) => ({
    error: { line, status: 422, detail: [{ loc: ['body', ...loc], type }] },
  });
  t.match(output.lines, [
    { C_SCORE: 1 },
    refused(2, ['current_session', 'HR_night_imputed'], 'value_error'),
    refused(3, ['current_session', 'sleepTimeSeconds'], 'unit_error'),
    refused(4, [], 'too_long'),
  ]);
});

t.test('a request that could not be scored is a bad line', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const work = scoreLines(pieces(GOOD, GOOD, GOOD), output, options(scorer));
  await turn();
  scorer.waiting[1]?.who.failed('fault');
  scorer.waiting[2]?.who.failed('expired');
  if (scorer.waiting[0] !== undefined) scorer.answer(scorer.waiting[0]);
  await work;
  t.match(output.lines, [
    { C_SCORE: 1 },
    { error: { line: 2, status: 500 } },
    { error: { line: 3, status: 503 } },
  ]);
});

t.test('no more lines are under way than allowed', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const work = scoreLines(pieces(GOOD.repeat(50)), output, options(scorer, { inFlightMax: 8 }));
  await turn();
  t.equal(scorer.admitted, 8);
  // All but the first are answered: they must wait for it, and so must the reading.
  for (const waiting of scorer.waiting.splice(1)) scorer.answer(waiting);
  await turn();
  t.equal(scorer.admitted, 8);
  t.equal(output.text, '');
  await answering(scorer, work);
  t.equal(output.lines.length, 50);
});

t.test('a full output stops the reading', async (t) => {
  const scorer = new HandScorer();
  const output = new PassThrough({ highWaterMark: 1 });
  const input = Array.from({ length: 200 }, () => GOOD);
  const work = scoreLines(pieces(...input), output, options(scorer, { inFlightMax: 8 }));
  for (let count = 0; count < 50; count++) {
    await turn();
    scorer.answerAll();
  }
  const whileFull = scorer.admitted;
  t.ok(whileFull <= 3 * 8, `${whileFull} of 200 lines were read for an output that nobody reads`);
  let text = '';
  output.on('data', (piece: Buffer) => (text += piece.toString()));
  await answering(scorer, work);
  t.equal(text.split('\n').length - 1, 200);
});

t.test('a line that the scorer has no room for is tried again, and none is lost', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const work = scoreLines(pieces(GOOD.repeat(4)), output, options(scorer));
  scorer.outcomes = ['admitted', 'saturated', 'saturated'];
  await answering(scorer, work);
  t.strictSame(
    output.lines.map(({ C_SCORE }) => C_SCORE),
    [1, 2, 3, 4],
  );
});

t.test('an input that breaks leaves what was read', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  async function* breaking(): AsyncGenerator<Buffer> {
    yield Buffer.from(GOOD + GOOD);
    throw new Error('the disk is gone');
  }
  await t.rejects(answering(scorer, scoreLines(breaking(), output, options(scorer))), {
    message: 'the disk is gone',
  });
  t.equal(output.lines.length, 2);
});

t.test('an output that breaks ends the reading, once nothing is under way', async (t) => {
  const scorer = new HandScorer();
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(new Error('nobody reads')),
  });
  const input = Array.from({ length: 100 }, () => GOOD);
  const work = scoreLines(pieces(...input), output, options(scorer, { inFlightMax: 4 }));
  await t.rejects(answering(scorer, work), { message: 'nobody reads' });
  t.ok(scorer.admitted < 20);
  t.equal(scorer.waiting.length, 0);
});
