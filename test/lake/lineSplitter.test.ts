import fc from 'fast-check';
import t from 'tap';
import { LineSplitter } from '#acuity/lake/lineSplitter.js';

/** The lines of a text that arrives in these pieces; undefined for one that is too long. */
function linesOf(pieces: readonly string[], bytesMax = 1_000): (string | undefined)[] {
  const splitter = new LineSplitter(bytesMax);
  const lines = pieces.flatMap((piece) => Array.from(splitter.split(Buffer.from(piece))));
  lines.push(...splitter.end());
  if (lines.some(({ number }, index) => number !== index + 1)) throw new Error('misnumbered');
  return lines.map(({ bytes }) => (bytes === undefined ? undefined : Buffer.from(bytes).toString()));
}

t.test('lines are the same however the text is cut', async () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[ab\n]{0,6}$/)), (pieces) => {
      const whole = linesOf([pieces.join('')]);
      const cut = linesOf(pieces);
      const plain = pieces.join('').split('\n');
      if (plain.at(-1) === '') plain.pop();
      return JSON.stringify(whole) === JSON.stringify(cut) && JSON.stringify(cut) === JSON.stringify(plain);
    }),
    { numRuns: 500 },
  );
});

t.test('an empty line is a line, a line feed at the end begins none', async (t) => {
  t.strictSame(linesOf(['a\n\nb\n']), ['a', '', 'b']);
  t.strictSame(linesOf(['\n']), ['']);
  t.strictSame(linesOf([]), []);
});

t.test('a line that is too long is passed over, the next is not', async (t) => {
  t.strictSame(linesOf(['abcd', 'e', 'f\nab', 'c\n'], 5), [undefined, 'abc']);
  t.strictSame(linesOf(['abcde\nabcdef'], 5), ['abcde', undefined]);
});
