import t from 'tap';
import { setTimeout as sleep } from 'node:timers/promises';
import { showProgress, wrapped } from '#acuity/lake/progress.js';
import { RowTally } from '#acuity/lake/score/scorePages.js';

t.test('share and time left stand there where the sizes of the files are known', async (t) => {
  for (const [totalBytes, bytes, shown] of [
    [400, 100, /25 % {2}30 s left {2}1,000 lines {2}100\/s$/],
    [400, 0, /^[^%]*1,000 lines {2}100\/s$/],
    [undefined, 100, /^[^%]*1,000 lines {2}100\/s$/],
  ] as const) {
    const drawn: string[] = [];
    const terminal = { columns: 80, write: (text: string) => drawn.push(text) };
    const tally = Object.assign(new RowTally(), { lines: 1_000, bytes });
    let nowMs = 0;
    const hide = showProgress(terminal, { tally, totalBytes }, () => nowMs);
    nowMs = 10_000;
    while (drawn.length === 0) await sleep(20);
    hide();
    t.match(drawn[0], shown);
  }
});

t.test('a long message breaks between words', async (t) => {
  const text = 'nights.ndjson: read as HR_night, RR_night, sleepTimeSeconds, deepSleepSeconds, weight_kg';
  const lines = wrapped(text, 40).split('\n');
  t.ok(lines.every((line) => line.length < 40));
  t.equal(lines.map((line) => line.trim()).join(' '), text);
});
