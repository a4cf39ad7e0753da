import { Field, Float32, Float64, List, makeData, type Data } from 'apache-arrow';
import type { parquetSchema } from 'hyparquet';
import { HybridReader } from './hybridReader.js';
import type { Codecs } from './parquetCodecs.js';
import type { Chunk, OpenFile } from './parquetFooter.js';
import { dataPageOf, inflated, pageHeads, type DataPage, type PageBodies } from './parquetPages.js';
import {
  dictionaryOf,
  samplesFor,
  valueReader,
  type NumberType,
  type Samples,
  type ValueReader,
} from './parquetValues.js';

type SchemaTree = ReturnType<typeof parquetSchema>;

/** How lists of numbers are encoded: the definition level says what is present. */
export interface ListForm {
  readonly type: NumberType;
  /** From this level on there is a list, possibly empty. */
  readonly listLevel: number;
  /** From this one on it has an element, possibly null. */
  readonly elementLevel: number;
  /** At this one the element is a number. */
  readonly numberLevel: number;
}

/** Undefined unless the column holds lists of numbers. */
export function listFormOf({ element: list, children }: SchemaTree): ListForm | undefined {
  const [repeated] = children;
  const isList = list.converted_type === 'LIST' || list.logical_type?.type === 'LIST';
  const isOne = children.length === 1 && repeated?.element.repetition_type === 'REPEATED';
  if (!isList || list.repetition_type === 'REPEATED' || !isOne) return undefined;
  const [item] = repeated.children;
  // Older writers use these names for a list of structs.
  const isStruct = repeated.element.name === 'array' || repeated.element.name.endsWith('_tuple');
  if (item !== undefined && (repeated.children.length > 1 || item.children.length > 0 || isStruct))
    return undefined;
  const { element } = item ?? repeated;
  const type = numberTypeOf(element);
  if (type === undefined || (item !== undefined && element.repetition_type === 'REPEATED')) return undefined;
  const listLevel = list.repetition_type === 'OPTIONAL' ? 1 : 0;
  const elementLevel = listLevel + 1;
  const numberLevel = elementLevel + (item?.element.repetition_type === 'OPTIONAL' ? 1 : 0);
  return { type, listLevel, elementLevel, numberLevel };
}

function numberTypeOf({ type, converted_type, logical_type }: SchemaTree['element']): NumberType | undefined {
  if (type === 'FLOAT' || type === 'DOUBLE') return type;
  if (type !== 'INT32' && type !== 'INT64') return undefined;
  const isInteger = converted_type === undefined || /^U?INT_/.test(converted_type);
  if (!isInteger || (logical_type !== undefined && logical_type.type !== 'INTEGER')) return undefined;
  const isUnsigned =
    converted_type?.startsWith('UINT_') === true ||
    (logical_type?.type === 'INTEGER' && !logical_type.isSigned);
  return isUnsigned ? `U${type}` : type;
}

/** The source from which all columns of a file are read. */
export interface PageSource {
  readonly file: OpenFile;
  readonly codecs: Codecs;
  readonly bodies: PageBodies;
}

/** Levels decoded together. */
const LEVELS = 8192;
/** Most samples of the rows taken together, as `rowsTogether` chooses them. */
const SAMPLES_MAX = 1 << 23;

/** How many rows to take at once from columns in `chunks`, so that their samples fit the caches, or little memory. */
export function rowsTogether(chunks: readonly Chunk[]): number {
  const most = chunks.reduce((length, { entries, rows }) => Math.max(length, entries / Math.max(1, rows)), 1);
  return Math.max(ROWS_MIN, Math.min(ROWS_MAX, Math.floor(SAMPLES_MAX / 8 / most)));
}

const ROWS_MAX = 1024;
const ROWS_MIN = 16;

/**
 * The lists of one column, page by page: for row groups of any size, memory holds only one page and the requested
 * rows. A row may continue from page to page.
 */
export class ListColumn {
  private readonly pages: Generator<OpenPage, void, undefined>;
  private page: OpenPage | undefined;
  private samples: Samples;
  /** Rows started so far. */
  private rowsSeen = 0;

  constructor(
    private readonly source: PageSource,
    private readonly chunks: readonly Chunk[],
    private readonly form: ListForm,
  ) {
    this.samples = samplesFor(form.type, LEVELS);
    this.pages = this.openPages();
  }

  /** The lists of the next `rows` rows, valid until the next call. @throws TableError */
  take(rows: number): Data {
    const lists = new Lists(rows);
    for (let page = this.pageInHand(); page !== undefined; page = this.pageInHand()) {
      const before = lists.begun;
      const isFull = page.levels.give(lists, this.form);
      this.rowsSeen += lists.begun - before;
      this.readSamples(page.values, lists);
      if (isFull) break;
    }
    if (lists.begun < rows)
      throw new Error('a column of the file has fewer rows than it says: it is damaged');
    return lists.data(this.samples);
  }

  /** The page being read; undefined after the last one. */
  private pageInHand(): OpenPage | undefined {
    while (this.page?.levels.load(this.form) !== true) {
      this.page = undefined; // two pages would take twice the memory
      const next = this.pages.next();
      if (next.done === true) return undefined;
      this.page = next.value;
    }
    return this.page;
  }

  private readSamples(values: ValueReader, lists: Lists): void {
    if (lists.samples > SAMPLES_MAX)
      throw new Error(`a list among rows with more than ${SAMPLES_MAX} samples together is too long`);
    if (lists.samples > this.samples.length) {
      const grown = samplesFor(this.form.type, Math.max(lists.samples, 2 * this.samples.length));
      grown.set(this.samples);
      this.samples = grown;
    }
    for (const { from, to } of lists.takeRuns()) values.read(this.samples, from, to - from);
  }

  private *openPages(): Generator<OpenPage, void, undefined> {
    const { file, codecs, bodies } = this.source;
    let rows = 0;
    for (const chunk of this.chunks) {
      let dictionary: Samples | undefined;
      const inflate = inflated(codecs, chunk.codec);
      for (const head of pageHeads(file, chunk)) {
        const { type, dictionary_page_header } = head.header;
        if (type === 'DICTIONARY_PAGE') {
          const bytes = inflate(bodies.of(head), head.header.uncompressed_page_size);
          dictionary = dictionaryOf(this.form.type, bytes, dictionary_page_header?.num_values ?? 0);
        }
        if (type !== 'DATA_PAGE' && type !== 'DATA_PAGE_V2') continue;
        const page = dataPageOf(head, bodies.of(head), inflate);
        const { encoding } = page.head;
        const values = valueReader(encoding, this.form.type, page.values, dictionary);
        yield { levels: new Levels(page, this.form), values };
      }
      rows += chunk.rows;
      if (this.rowsSeen !== rows)
        throw new Error('a column of the file has other rows than it says: it is damaged');
    }
  }
}

/** A page being read. */
interface OpenPage {
  readonly levels: Levels;
  readonly values: ValueReader;
}

/** The levels of a page: where lists begin, and what is present. */
class Levels {
  private readonly repetitionReader: HybridReader;
  private readonly definitionReader: HybridReader;
  private readonly repetitions = new Uint8Array(LEVELS);
  private readonly definitions = new Uint8Array(LEVELS);
  private entriesLeft: number;
  private at = 0;
  private end = 0;
  private areNumbers = false;

  constructor({ entries, repetitions, definitions }: DataPage, { numberLevel }: ListForm) {
    this.entriesLeft = entries;
    this.repetitionReader = new HybridReader(repetitions, 1);
    this.definitionReader = new HybridReader(definitions, 32 - Math.clz32(numberLevel));
  }

  /** Whether there are levels to give; decodes more if none are left. */
  load({ numberLevel }: ListForm): boolean {
    if (this.at < this.end) return true;
    const count = Math.min(LEVELS, this.entriesLeft);
    if (count <= 0) return false;
    this.entriesLeft -= count;
    this.repetitionReader.read(this.repetitions, 0, count);
    this.areNumbers = this.definitionReader.skipRunOf(numberLevel, count);
    if (!this.areNumbers) this.definitionReader.read(this.definitions, 0, count);
    this.at = 0;
    this.end = count;
    return true;
  }

  /**
   * Gives the decoded levels to `lists`. @returns whether these are full, and the next row is left for the next call
   */
  give(lists: Lists, form: ListForm): boolean {
    const repetitions = this.repetitions.subarray(0, this.end);
    while (this.at < this.end) {
      if (repetitions[this.at] === 0) {
        if (lists.isFull) return true;
        lists.begin();
      } else if (lists.begun === 0) throw new Error('a row of the file has no beginning: it is damaged');
      const next = repetitions.indexOf(0, this.at + 1);
      const end = next < 0 ? this.end : next;
      if (this.areNumbers) lists.add(end - this.at);
      else for (let at = this.at; at < end; at++) lists.addLevel(this.definitions[at] ?? 0, form);
      this.at = end;
    }
    return false;
  }
}

/** Numeric samples from `from` to before `to`. */
interface Run {
  readonly from: number;
  readonly to: number;
}

/** Lists being read: where each begins, and what is null. */
class Lists {
  begun = 0;
  samples = 0;
  private readonly offsets: Int32Array;
  private readonly absent: number[] = [];
  private readonly holes: number[] = [];
  private runs: Run[] = [];
  /** Start of the samples not yet in a run. */
  private from = 0;

  constructor(private readonly rows: number) {
    this.offsets = new Int32Array(rows + 1);
  }

  get isFull(): boolean {
    return this.begun === this.rows;
  }

  begin(): void {
    this.offsets[this.begun++] = this.samples;
  }

  add(numbers: number): void {
    this.samples += numbers;
  }

  addLevel(level: number, { listLevel, elementLevel, numberLevel }: ListForm): void {
    if (level === numberLevel) this.samples++;
    else if (level >= elementLevel) this.addHole();
    else if (level < listLevel) this.absent.push(this.begun - 1);
  }

  /** The runs of numbers added since the last call. */
  takeRuns(): readonly Run[] {
    this.endRun(this.samples);
    const { runs } = this;
    this.runs = [];
    return runs;
  }

  data(samples: Samples): Data {
    this.offsets[this.rows] = this.samples;
    const item = samples instanceof Float32Array ? new Float32() : new Float64();
    const child = makeData({
      type: item as Float64,
      data: samples.subarray(0, this.samples) as Float64Array,
      ...validity(this.holes, this.samples),
    });
    const type = new List(new Field('item', item, true));
    return makeData({ type, valueOffsets: this.offsets, child, ...validity(this.absent, this.rows) });
  }

  private addHole(): void {
    this.endRun(this.samples);
    this.holes.push(this.samples++);
    this.from = this.samples;
  }

  private endRun(to: number): void {
    if (to > this.from) this.runs.push({ from: this.from, to });
    this.from = to;
  }
}

/** Arrow's validity bitmap. */
function validity(
  nulls: readonly number[],
  length: number,
): { length: number; nullCount: number; nullBitmap?: Uint8Array } {
  if (nulls.length === 0) return { length, nullCount: 0 };
  const nullBitmap = new Uint8Array(Math.ceil(length / 8)).fill(0xff);
  for (const at of nulls) nullBitmap[at >> 3] = (nullBitmap[at >> 3] ?? 0) & ~(1 << (at & 7));
  return { length, nullCount: nulls.length, nullBitmap };
}
