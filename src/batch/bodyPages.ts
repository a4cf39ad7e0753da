import { PROBLEMS } from '../contract/problems.js';
import type { SeriesLimits } from '#rules/fields.js';
import { readerOf, type RequestReader } from '../reading/read.js';
import { WasmParser } from '../reading/wasmParser.js';
import { LineSplitter } from './lineSplitter.js';
import type { Page, ReadProgress, RowProblem } from './page.js';

/** What of a row is needed beside its session. */
export interface RowColumns {
  /** Go through to the output. */
  readonly keep: readonly string[];
  /** Whose the row is, and when it was; where history is asked for. */
  readonly history?: { readonly person: string; readonly order: string } | undefined;
}

/** The names of what is needed beside the session, those that are kept first. */
export function namesBeside({ keep, history }: RowColumns): string[] {
  return [...new Set([...keep, ...(history === undefined ? [] : [history.person, history.order])])];
}

export interface BodyPagesOptions extends RowColumns {
  readonly limits: SeriesLimits;
  /** A longer body is a bad one. */
  readonly bodyMaxBytes: number;
}

/** Most rows of a page: it is written when all of it is scored. */
const ROWS_MAX = 512;

/** The pages of an input with one JSON body in each line. */
export async function* linePages(
  input: AsyncIterable<Uint8Array>,
  reading: ReadProgress,
  options: BodyPagesOptions,
): AsyncGenerator<Page, void, undefined> {
  const pages = new BodyPages(options);
  const splitter = new LineSplitter(options.bodyMaxBytes);
  for await (const chunk of input) {
    reading.bytesRead += chunk.length;
    yield* pages.of(bytesOf(splitter.split(chunk)));
  }
  yield* pages.of(bytesOf(splitter.end()));
}

function* bytesOf(lines: Iterable<{ readonly bytes: Uint8Array | undefined }>): Generator<Body> {
  for (const { bytes } of lines) yield { content: bytes ?? PROBLEMS.bodyTooLarge };
}

/** A row as the body of a request. */
export interface Body {
  /** Or why there is none. */
  readonly content: Uint8Array | RowProblem;
  /** What is needed beside the session, as JSON by name; absent where it stands in the content. */
  readonly beside?: ReadonlyMap<string, string>;
}

/** Makes pages of bodies. */
export class BodyPages {
  private readonly reader: BodyReader;
  private rowsBefore = 0;

  constructor(private readonly options: BodyPagesOptions) {
    const parser = new WasmParser(options.limits, namesBeside(options));
    this.reader = { parser, readRequest: readerOf(parser, options.limits) };
  }

  *of(bodies: Iterable<Body>): Generator<Page, void, undefined> {
    let page: Body[] = [];
    for (const body of bodies) {
      page.push(body);
      if (page.length === ROWS_MAX) {
        yield this.page(page);
        page = [];
      }
    }
    if (page.length > 0) yield this.page(page);
  }

  private page(bodies: Body[]): Page {
    const firstRow = this.rowsBefore + 1;
    this.rowsBefore += bodies.length;
    return new BodyPage(bodies, firstRow, this.reader, this.options);
  }
}

interface BodyReader {
  readonly parser: WasmParser;
  readonly readRequest: RequestReader;
}

class BodyPage implements Page {
  readonly rows: number;
  /** The fields beside the session, each of all rows that were read. */
  private readonly texts: ReadonlyMap<string, (string | undefined)[]>;

  constructor(
    private bodies: Body[],
    readonly firstRow: number,
    private readonly reader: BodyReader,
    private readonly options: RowColumns,
  ) {
    this.rows = bodies.length;
    this.texts = new Map(namesBeside(options).map((name) => [name, []]));
  }

  read(row: number): ReturnType<Page['read']> {
    const { parser, readRequest } = this.reader;
    const body = this.bodies[row];
    if (body === undefined) throw new Error('a row of a closed page');
    const { content, beside } = body;
    const isBytes = content instanceof Uint8Array;
    const outcome = isBytes ? readRequest(content) : content;
    for (const [name, texts] of this.texts) {
      if (beside !== undefined) texts[row] = beside.get(name);
      else if (isBytes) texts[row] = parser.kept(name);
    }
    return outcome;
  }

  kept(name: string, row: number): string | undefined {
    return this.texts.get(name)?.[row];
  }

  person(row: number): string | number | null | undefined {
    return this.scalar(this.options.history?.person, row);
  }

  moment(row: number): string | number | null | undefined {
    return this.scalar(this.options.history?.order, row);
  }

  close(): void {
    this.bodies = [];
  }

  /** Text or a number; anything else is as good as nothing. A number is as long as it was written. */
  private scalar(name: string | undefined, row: number): string | number | undefined {
    const text = name === undefined ? undefined : this.kept(name, row);
    if (text === undefined || !/^["\d-]/.test(text)) return undefined;
    try {
      return JSON.parse(text) as string | number;
    } catch {
      return undefined; // the line is no JSON, which is told of it anyway
    }
  }
}
