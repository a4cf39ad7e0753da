import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { makeVector } from 'apache-arrow';
import { openCodecs } from '#acuity/batch/parquetCodecs.js';
import { ListColumn } from '#acuity/batch/parquetLists.js';
import { PageBodies } from '#acuity/batch/parquetPages.js';

/**
 * Lists in pages that are written here by hand, as older writers do and no library of the tests: a list goes on from
 * page to page, levels are packed or in runs.
 */

type List = readonly (number | null)[] | null;

const FORM = { type: 'DOUBLE', listLevel: 1, elementLevel: 2, numberLevel: 3 } as const;
const codecs = await openCodecs();
const folder = t.testdir();

interface Entry {
  readonly repetition: number;
  readonly definition: number;
  readonly value?: number;
}

function entriesOf(lists: readonly List[]): Entry[] {
  return lists.flatMap((list): Entry[] => {
    if (list === null) return [{ repetition: 0, definition: 0 }];
    if (list.length === 0) return [{ repetition: 0, definition: 1 }];
    return list.map((value, at) => ({
      repetition: at === 0 ? 0 : 1,
      ...(value === null ? { definition: 2 } : { definition: 3, value }),
    }));
  });
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/** Runs of eight at least; what is left in between is packed. */
function hybrid(values: readonly number[], width: number): number[] {
  const bytes: number[] = [];
  for (let at = 0; at < values.length;) {
    const other = values.findIndex((value, place) => place > at && value !== values[at]);
    const end = other < 0 ? values.length : other;
    if (end - at >= 8 || end === values.length) {
      bytes.push(...varint((end - at) << 1), values[at] ?? 0);
      at = end;
    } else {
      const bits = Array.from({ length: 8 }, (_, place) =>
        (values[at + place] ?? 0).toString(2).padStart(width, '0'),
      );
      const packed = bits.toReversed().join('');
      bytes.push(...varint((1 << 1) | 1));
      for (let byte = packed.length; byte > 0; byte -= 8)
        bytes.push(parseInt(packed.slice(byte - 8, byte), 2));
      at += 8;
    }
  }
  return bytes;
}

/** A page in the first form, with its head in Thrift's compact protocol. */
function pageOf(entries: readonly Entry[]): Buffer {
  const zigzag = (value: number): number[] => varint(value * 2);
  const levels = [
    hybrid(
      entries.map(({ repetition }) => repetition),
      1,
    ),
    hybrid(
      entries.map(({ definition }) => definition),
      2,
    ),
  ].flatMap((bytes) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return [...length, ...bytes];
  });
  const values = Float64Array.from(entries.flatMap(({ value }) => value ?? []));
  const body = Buffer.concat([Buffer.from(levels), Buffer.from(values.buffer)]);
  const size = zigzag(body.length);
  const rle = [0x15, ...zigzag(3)];
  // type, sizes; a structure: how many, PLAIN, levels in the hybrid twice
  const head = [
    0x15,
    0,
    0x15,
    ...size,
    0x15,
    ...size,
    0x2c,
    0x15,
    ...zigzag(entries.length),
    0x15,
    0,
    ...rle,
    ...rle,
    0,
    0,
  ];
  return Buffer.concat([Buffer.from(head), body]);
}

/** The lists that are read of `entries`, in pages of the `lengths` and so many rows at a time, again and again. */
function read(
  entries: readonly Entry[],
  rows: number,
  lengths: readonly number[],
  takes: readonly number[],
): List[] {
  const pages: Buffer[] = [];
  for (let at = 0, page = 0; at < entries.length; page++) {
    const length = lengths[page % lengths.length] ?? 1;
    pages.push(pageOf(entries.slice(at, at + length)));
    at += length;
  }
  const bytes = Buffer.concat(pages);
  const path = join(folder, 'pages');
  writeFileSync(path, bytes);
  const file = { fd: openSync(path, 'r'), size: bytes.length };
  try {
    const chunk = {
      codec: 'UNCOMPRESSED',
      start: 0,
      end: bytes.length,
      rows,
      entries: entries.length,
    } as const;
    const column = new ListColumn({ file, codecs, bodies: new PageBodies(file) }, [chunk], FORM);
    const lists: List[] = [];
    for (let turn = 0; lists.length < rows; turn++) {
      const data = column.take(Math.min(takes[turn % takes.length] ?? 1, rows - lists.length));
      for (const list of makeVector(data))
        lists.push(list === null ? null : [...(list as Iterable<number | null>)]);
    }
    return lists;
  } finally {
    closeSync(file.fd);
  }
}

const number = fc.oneof(
  { weight: 9, arbitrary: fc.double({ noNaN: true }) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const list = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 2, arbitrary: fc.array(number, { maxLength: 4 }) },
  { weight: 4, arbitrary: fc.array(fc.double({ noNaN: true }), { maxLength: 40 }) },
);
const some = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 3 });

t.test('lists are read as they were written, wherever a page ends and however many are taken', (t) => {
  fc.assert(
    fc.property(fc.array(list, { minLength: 1, maxLength: 30 }), some, some, (lists, lengths, takes) => {
      t.strictSame(read(entriesOf(lists), lists.length, lengths, takes), lists);
    }),
    { numRuns: 60 },
  );
  t.end();
});

t.test('more levels than are decoded together', (t) => {
  const lists = Array.from({ length: 300 }, (_, row) =>
    Array.from({ length: row }, (_, at) => row + at / 1024),
  );
  t.strictSame(read(entriesOf(lists), 300, [20_000], [7, 200]), lists);
  t.end();
});

t.test('a column that has other rows than its chunk says is damaged', (t) => {
  const entries = entriesOf([[1, 2], [3]]);
  t.throws(() => read(entries, 3, [9], [3]), /has other rows than it says: it is damaged/);
  t.throws(() => read(entries.slice(1), 1, [9], [1]), /a row of the file has no beginning: it is damaged/);
  t.end();
});
