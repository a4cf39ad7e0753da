import t from 'tap';
import { showProgress, summaryLine } from '#acuity/lake/progress.js';

const TALLY = { lines: 1_234_567, badLines: 2, ignored: 0, firstBadLine: 7 };

t.test('the summary names the first bad line, and what came too late', async (t) => {
  t.equal(summaryLine(TALLY, 10_000), '1,234,567 lines in 10.0 s (123,457/s), 2 bad, the first is row 7');
  t.equal(
    summaryLine({ lines: 1, badLines: 0, ignored: 3, firstBadLine: 0 }, 0, 1_000),
    '1 lines of 1,000 people in 0.0 s (0/s), none bad; 3 measurements came too late to count',
  );
});

t.test('the line fits the terminal and is gone at the end', async (t) => {
  const drawn: string[] = [];
  const shown = new Promise<void>((resolve) => {
    const terminal = { columns: 20, write: (text: string) => void (drawn.push(text), resolve()) };
    t.teardown(showProgress(terminal, TALLY, () => 0));
  });
  const alive = setInterval(() => undefined, 1_000); // the progress keeps no process running
  await shown;
  clearInterval(alive);
  t.equal(drawn[0], '\r\u001b[K1,234,567 lines  0/');
});
