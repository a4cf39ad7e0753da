import { PROBLEMS } from '../contract/problems.js';
import type { SeriesLimits } from '#rules/fields.js';
import { readerOf, type RequestReader } from '../pipeline/read.js';
import { WasmParser } from '../pipeline/wasmParser.js';
import { LineSplitter } from './lineSplitter.js';
import type { Page, Reading, RowProblem } from './page.js';

/** What of a row is needed beside its session. */
export interface RowColumns {
  /** Go through to the output. */
  readonly keep: readonly string[];
  /** Whose the row is, and when it was; where history is asked for. */
  readonly history?: { readonly person: string; readonly order: string } | undefined;
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
  reading: Reading,
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

function* bytesOf(lines: Iterable<{ readonly bytes: Uint8Array | undefined }>) {
  for (const { bytes } of lines) yield bytes ?? PROBLEMS.bodyTooLarge;
}

/** A row as the body of a request, or why there is none. */
export type Body = Uint8Array | RowProblem;

/** Makes pages of bodies. */
export class BodyPages {
  private readonly reader: BodyReader;
  private rowsBefore = 0;

  constructor(private readonly options: BodyPagesOptions) {
    const parser = new WasmParser(options.limits);
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
  private readonly texts: Readonly<Record<string, (string | undefined)[]>>;

  constructor(
    private bodies: Body[],
    readonly firstRow: number,
    private readonly reader: BodyReader,
    private readonly options: RowColumns,
  ) {
    this.rows = bodies.length;
    const { keep, history } = options;
    const names = history === undefined ? keep : [...keep, history.person, history.order];
    this.texts = Object.fromEntries(names.map((name) => [name, []]));
  }

  read(row: number): ReturnType<Page['read']> {
    const { parser, readRequest } = this.reader;
    const body = this.bodies[row];
    if (body === undefined) throw new Error('a row of a closed page');
    if (!(body instanceof Uint8Array)) return body;
    parser.forgetExtras();
    const request = readRequest(body);
    for (const name in this.texts) {
      const texts = this.texts[name];
      if (texts !== undefined) texts[row] = parser.extra(name);
    }
    return request;
  }

  kept(name: string, row: number): string | undefined {
    return this.texts[name]?.[row];
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
    const text = name === undefined ? undefined : this.texts[name]?.[row];
    if (text === undefined || !/^["\d-]/.test(text)) return undefined;
    try {
      return JSON.parse(text) as string | number;
    } catch {
      return undefined; // the line is no JSON, which is told of it anyway
    }
  }
}
