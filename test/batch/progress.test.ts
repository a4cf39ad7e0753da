import t from 'tap';
import { progressLine, showProgress, summaryLine } from '#acuity/batch/progress.js';

const tally = { bytesRead: 300, lines: 1_234_567, badLines: 0, firstBadLine: 0 };

t.test('with a known end there is a bar, a share and what is left', async (t) => {
  t.equal(
    progressLine(tally, 1_200, 20_000),
    '██████░░░░░░░░░░░░░░░░░░   25 %  1,234,567 lines  61,728/s  1:00 left',
  );
  t.match(progressLine({ ...tally, bytesRead: 9_999 }, 1_200, 20_000), /100 %.*0:00 left/);
});

t.test('without one there is the count', async (t) => {
  t.equal(
    progressLine({ ...tally, badLines: 1_000 }, undefined, 20_000),
    '1,234,567 lines  61,728/s  1,000 bad',
  );
  t.match(progressLine({ ...tally, lines: 0 }, 0, 0), /^0 lines {2}0\/s$/);
});

t.test('the summary names the first bad line', async (t) => {
  t.equal(summaryLine(tally, 2_500), '1,234,567 lines in 2.5 s (493,827/s), none bad');
  t.match(summaryLine({ ...tally, badLines: 2, firstBadLine: 17 }, 2_500), /2 bad, the first is line 17$/);
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
