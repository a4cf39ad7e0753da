import { PassThrough, Writable } from 'node:stream';
import t from 'tap';
import { openLines } from '#acuity/lake/bodyPages.js';
import { newTally, scorePages, type RowTally } from '#acuity/lake/scorePages.js';
import { flushed, openSink, toStream } from '#acuity/lake/sinks.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { Collected, HAND_MODEL, HandScorer } from '#fixtures/handScorer.js';
import { engine } from '#fixtures/lake.js';

interface Setup {
  readonly scorer: HandScorer;
  readonly rowsMax: number;
  readonly bodyMaxBytes: number;
  readonly tally: RowTally;
  readonly keep?: readonly string[];
}

function options(scorer: HandScorer, more: Partial<Setup> = {}): Setup {
  return { scorer, rowsMax: 100, bodyMaxBytes: 1_000, tally: newTally(), ...more };
}

async function scoreLines(
  input: AsyncIterable<Uint8Array>,
  output: Writable,
  { scorer, rowsMax, bodyMaxBytes, tally, keep = ['id', 'custom_id'] }: Setup,
): Promise<void> {
  const sink = await openSink(toStream(output), {
    keep,
    model: HAND_MODEL,
    format: 'ndjson',
    isStream: true,
    engine,
  });
  const { pages } = await openLines(input, { limits: DEFAULT_SERIES_LIMITS, bodyMaxBytes });
  await scorePages(pages({ keep }), sink, { scorer, rowsMax, tally });
  await flushed(output);
}

const GOOD = '{"current_session":{}}\n';

async function* pieces(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('the order of the lines is kept, with answers in any order', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const setup = options(scorer);
  await scorer.answering(scoreLines(pieces(GOOD.repeat(7), GOOD.repeat(3)), output, setup));
  t.strictSame(
    output.lines.map(({ C_SCORE }) => C_SCORE),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
  t.match(setup.tally, { lines: 10, badLines: 0, firstBadLine: 0 });
  t.equal(
    output.text.split('\n')[0],
    '{"row":1,"C_SCORE":1,"attention":1,"memory":1,"reasoning":1,"stress":1,"valence":"High","arousal":"Low","inference_time_ms":0.25,"model":"hand","model_version":"1"}',
  );
});

t.test('a bad line says what the service would have said, in its place', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const setup = options(scorer);
  const bad = ['{"current_session":{"age":131}}\n', '\n', '{"current_session":', ' '.repeat(2_000), '\n'];
  await scorer.answering(scoreLines(pieces(GOOD, ...bad, GOOD), output, setup));
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
  await scorer.answering(scoreLines(pieces(`${lines.join('\n')}\n`), output, options(scorer)));
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

t.test('fields that are kept stand in front, as they were written', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const lines = [
    '{"id":12345678901234567890,"current_session":{},"custom_id":{"a":[1.50,"é"]}}',
    '{"custom_id":null,"current_session":{"id":"of the session"}}',
    '{"id":"bad","current_session":{"age":131}}',
    '{"id":"first","current_session":{},"id":"last"}',
  ];
  await scorer.answering(scoreLines(pieces(lines.join('\n')), output, options(scorer)));
  const starts = output.text
    .split('\n')
    .map((line) => line.replace(/"row":\d+,("C_SCORE"|"error").*$/, '$1'));
  t.strictSame(starts, [
    '{"id":12345678901234567890,"custom_id":{"a":[1.50,"é"]},"C_SCORE"',
    '{"custom_id":null,"C_SCORE"',
    '{"id":"bad","error"',
    '{"id":"last","C_SCORE"',
    '',
  ]);
});

/** Other fields of a body, more than anyone would look at. */
function others(count: number): string {
  return Array.from({ length: count }, (_, field) => `"other ${field}":[${field}],`).join('');
}

t.test('what is kept may stand after any number of other fields, and be written in any way', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const keep = ['id', 'Größe "1"\n😀', 'explain', 'absent'];
  const lines = [
    `{${others(40)}"id":1,"current_session":{}}`,
    `{"current_session":{},${others(300)}"id":2}`,
    `{${others(40)}"current_session":{},"\\u0069d":3}`,
    `{"id":4,"Gr\\u00f6\\u00dfe \\"1\\"\\n\\ud83d\\ude00":true,"current_session":{}}`,
    `{"id":5,"Größe \\u0022\\u0031\\"\\u000a😀":false,"explain":null,"current_session":{"age":131}}`,
    `{"id":6,"Gr\\u00f6\\u00dfe \\"1\\"\\n\\ud83d":1,"i\\u0064\\/":7,"current_session":{}}`,
  ];
  const setup = { ...options(scorer, { bodyMaxBytes: 10_000 }), keep };
  await scorer.answering(scoreLines(pieces(lines.join('\n')), output, setup));
  const starts = output.text
    .split('\n')
    .map((line) => line.replace(/"row":\d+,("C_SCORE"|"error").*$/, '$1'));
  const name = JSON.stringify(keep[1]);
  t.strictSame(starts, [
    '{"id":1,"C_SCORE"',
    '{"id":2,"C_SCORE"',
    '{"id":3,"C_SCORE"',
    `{"id":4,${name}:true,"C_SCORE"`,
    `{"id":5,${name}:false,"explain":null,"error"`,
    '{"id":6,"C_SCORE"',
    '',
  ]);
});

t.test('no more rows are under way than allowed', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const input = Array.from({ length: 13 }, () => GOOD.repeat(4));
  const work = scoreLines(pieces(...input), output, options(scorer, { rowsMax: 8 }));
  await turn();
  t.equal(scorer.admitted, 8);
  // All but the first are answered: they must wait for it, and so must the reading.
  for (const waiting of scorer.waiting.splice(1)) scorer.answer(waiting);
  await turn();
  t.equal(scorer.admitted, 8);
  t.equal(output.text, '');
  await scorer.answering(work);
  t.equal(output.lines.length, 52);
});

t.test('a full output stops the reading', async (t) => {
  const scorer = new HandScorer();
  const output = new PassThrough({ highWaterMark: 1 });
  const input = Array.from({ length: 200 }, () => GOOD);
  const work = scoreLines(pieces(...input), output, options(scorer, { rowsMax: 8 }));
  for (let count = 0; count < 50; count++) {
    await turn();
    scorer.answerAll();
  }
  const whileFull = scorer.admitted;
  t.ok(whileFull <= 3 * 8, `${whileFull} of 200 lines were read for an output without a reader`);
  let text = '';
  output.on('data', (piece: Buffer) => (text += piece.toString()));
  await scorer.answering(work);
  t.equal(text.split('\n').length - 1, 200);
});

t.test('a line that the scorer has no room for is tried again, and none is lost', async (t) => {
  const scorer = new HandScorer();
  const output = new Collected();
  const work = scoreLines(pieces(GOOD.repeat(4)), output, options(scorer));
  scorer.outcomes = ['admitted', 'saturated', 'saturated'];
  await scorer.answering(work);
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
  await t.rejects(scorer.answering(scoreLines(breaking(), output, options(scorer))), {
    message: 'the disk is gone',
  });
  t.equal(output.lines.length, 2);
});

t.test('an output that breaks ends the reading, once nothing is under way', async (t) => {
  const scorer = new HandScorer();
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(new Error('no reader')),
  });
  const input = Array.from({ length: 100 }, () => GOOD);
  const work = scoreLines(pieces(...input), output, options(scorer, { rowsMax: 4 }));
  await t.rejects(scorer.answering(work), { message: 'no reader' });
  t.ok(scorer.admitted < 20);
  t.equal(scorer.waiting.length, 0);
});
