import t from 'tap';
import { progressLine, showProgress, summaryLine } from '#acuity/lake/progress.js';

const tally = { bytesRead: 300, lines: 1_234_567, badLines: 0, ignored: 0, firstBadLine: 0 };

t.test('with a known end there is a bar, a share and what is left', async (t) => {
  t.equal(
    progressLine(tally, 1_200, 20_000, 79),
    '██████░░░░░░░░░░░░░░░░░░   25 %  1,234,567 lines  61,728/s  1:00 left',
  );
  t.match(progressLine({ ...tally, bytesRead: 9_999 }, 1_200, 20_000, 79), /100 %.*0:00 left/);
});

t.test('it fits 80 columns, and loses the bar before a figure', async (t) => {
  const large = { bytesRead: 12e9, lines: 1_234_567_890, badLines: 12_345_678, ignored: 0, firstBadLine: 17 };
  t.equal(
    progressLine(large, 1e12, 9_000_000, 74),
    '  1 %  1,234,567,890 lines  137,174/s  12,345,678 bad  12350:00 left',
  );
  const less = progressLine({ ...large, badLines: 3_456 }, 1e11, 9_000_000, 79);
  t.match(less, /^█*░{6,}   12 %  1,234,567,890 lines  137,174\/s  3,456 bad  1100:00 left$/);
  t.equal(less.length, 79);
});

t.test('without one there is the count', async (t) => {
  t.equal(
    progressLine({ ...tally, badLines: 1_000 }, undefined, 20_000, 79),
    '1,234,567 lines  61,728/s  1,000 bad',
  );
  t.match(progressLine({ ...tally, lines: 0 }, 0, 0, 79), /^0 lines {2}0\/s$/);
});

t.test('the summary names the first bad line', async (t) => {
  t.equal(summaryLine(tally, 2_500), '1,234,567 lines in 2.5 s (493,827/s), none bad');
  t.match(
    summaryLine({ ...tally, badLines: 2, ignored: 0, firstBadLine: 17 }, 2_500),
    /2 bad, the first is row 17$/,
  );
});

t.test('the line fits the terminal and is gone at the end', async (t) => {
  const written: string[] = [];
  const terminal = { columns: 20, write: (text: string) => written.push(text) };
  const hide = showProgress({ terminal, totalBytes: 1_200, tally, nowMs: () => 0 });
  const alive = setInterval(() => undefined, 50);
  while (written.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  clearInterval(alive);
  hide();
  t.equal(written[0]?.replace('\r\u001b[K', '').length, 19);
  t.equal(written.at(-1), '\r\u001b[K');
});
