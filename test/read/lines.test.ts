import fc from 'fast-check';
import t from 'tap';
import { LINES_MAX } from '#rules/structure.js';
import { LineFinder } from '#acuity/read/lines.js';

function finderOf(text: string): LineFinder {
  const finder = new LineFinder(Buffer.from(text));
  while (finder.next() !== undefined);
  return finder;
}

function linesOf(text: string): string[] {
  const finder = finderOf(text);
  return finder.lines.map((line) => Buffer.from(finder.bytesOf(line)).toString());
}

t.test('lines end with LF or CRLF, the last one with the body; empty ones are left out', async (t) => {
  t.strictSame(linesOf(''), []);
  t.strictSame(linesOf('\n\r\n\n'), []);
  t.strictSame(linesOf('a'), ['a']);
  t.strictSame(linesOf('a\nb\r\n\nc\n'), ['a', 'b', 'c']);
  t.strictSame(linesOf('a\rb\r\r\n \n'), ['a\rb\r', ' ']);
});

t.test('line ends of every kind, at every place in memory: as one line after the other', async () => {
  const part = fc.constantFrom('\n', '\r\n', '\r', 'a', '\n\n\n\n\n\n\n', '\r\n\r\n');
  fc.assert(
    fc.property(fc.array(part), fc.nat(3), (parts, offset) => {
      const text = parts.join('');
      const memory = Buffer.from('x'.repeat(offset) + text);
      const finder = new LineFinder(memory.subarray(offset));
      while (finder.next() !== undefined);
      const found = finder.lines.map((line) => Buffer.from(finder.bytesOf(line)).toString());
      const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
      return JSON.stringify(found) === JSON.stringify(lines.filter((line) => line !== ''));
    }),
  );
});

t.test('a run of empty lines takes a step for each 64 KiB of it', async (t) => {
  for (const end of ['\n', '\r\n', '\n\r\n']) {
    const finder = new LineFinder(Buffer.from(`${end.repeat(300_000)}{}`));
    let steps = 0;
    while (finder.next() !== undefined) steps++;
    t.equal(finder.lines.length, 1);
    t.ok(steps <= 2 + (300_000 * end.length) / 65_536, `${steps}`);
  }
});

t.test('counting stops at the first line beyond the limit', async (t) => {
  t.equal(finderOf('a\n'.repeat(LINES_MAX)).lines.length, LINES_MAX);
  t.equal(finderOf('a\n'.repeat(2 * LINES_MAX)).lines.length, LINES_MAX + 1);
});

t.test('every line that may ask for an explanation is seen', async (t) => {
  for (const [line, mayExplain] of [
    ['{"explain":true}', true],
    ['{"explain" \t : \r true}', true],
    ['{"explain":false,"explain":true}', true],
    ['{"expl\\u0061in":true}', true],
    ['{"explain":false}', false],
    ['{"explain":null}', false],
    ['{"x":"explain"}', false],
    ['{"explain"}', false],
    ['"explain"', false],
    ['{"explain":', false],
    ['{}', false],
  ] as const) {
    const finder = finderOf(line);
    t.equal(finder.mayExplain(finder.lines[0] ?? { start: 0, end: 0 }), mayExplain, line);
  }
});

t.test('the field is seen in every place', async () => {
  const part = fc.oneof(
    fc.constantFrom(...'"explain" "explain explain" n" exp "" "sex":"F", 61.5,70, :true'.split(' ')),
    fc.string({ unit: fc.constantFrom(...'"explain0,:'), maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const line = parts.join('');
      const finder = finderOf(line);
      const [found] = finder.lines;
      return found === undefined || finder.mayExplain(found) === /"explain":t/.test(line);
    }),
    { numRuns: 2_000, examples: [[['"explain"', ':true']], [['"explain', '"explain"', ':true']]] },
  );
});
