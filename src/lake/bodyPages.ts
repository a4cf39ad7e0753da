import { isUtf8 } from 'node:buffer';
import { PROBLEMS, UNPROCESSABLE } from '../contract/problems.js';
import { FIELD_NAMES, type SeriesLimits } from '#rules/fields.js';
import type { Norms } from '../norms/norms.js';
import { RECORDING } from '../reading/exact.js';
import { readersOf, type RequestReader } from '../reading/read.js';
import { readRecordingOf } from '../recording/readRecording.js';
import { WasmParser } from '../reading/wasmParser.js';
import type { MeasuringConstants } from '../pipeline/measuredRow.js';
import type { GivenMeasurement } from '../records/request.js';
import { LineSplitter, jsonIn, type Line } from './lineSplitter.js';
import type { Partition } from './inputs.js';
import { namesBeside, type RowColumns } from './names.js';
import type { RowProblem } from './errors.js';
import type { OpenInput, Page } from './page.js';
import { ROWS_SEEN, inOwnCase, namesOfRows } from './rowNames.js';

export interface BodyPagesOptions {
  readonly limits: SeriesLimits;
  /** A longer body is a bad row. */
  readonly bodyMaxBytes: number;
  /** The scoring model's constants; undefined if it takes no measurements. */
  readonly constants?: MeasuringConstants | undefined;
  /** The service's if absent. */
  readonly norms?: Norms | undefined;
}

const REQUEST_NAMES: ReadonlySet<string> = new Set(FIELD_NAMES.request);

/** Most rows of a page: a page is written when all of it is scored. */
const ROWS_MAX = 512;

/** Opens an input with one JSON body per line. */
export async function openLines(
  input: AsyncIterable<Uint8Array>,
  options: BodyPagesOptions,
  partitions: readonly Partition[] = [],
): Promise<OpenInput> {
  const lines = linesOf(input, options.bodyMaxBytes);
  // The first chunk decides the names, because a caller may wait for the scores of its first line.
  const first = await lines.next();
  const seen = first.done === true ? [] : first.value.slice(0, ROWS_SEEN);
  return {
    names: namesOfRows(
      seen.filter((body) => body instanceof Uint8Array),
      partitions,
    ),
    async *pages(columns) {
      const readRequest = bodyReader(options, columns);
      // Values from the file's path, the same for all rows.
      const constants = new Map(partitions.map(({ name, value }) => [name, JSON.stringify(value)]));
      let before = 0;
      const pagesOf = function* (bodies: Body[]): Generator<Page, void, undefined> {
        for (let at = 0; at < bodies.length; at += ROWS_MAX) {
          const own = bodies.slice(at, at + ROWS_MAX);
          yield new BodyPage(own, before + 1, readRequest, columns, constants);
          before += own.length;
        }
      };
      if (first.done !== true) yield* pagesOf(first.value);
      for await (const bodies of lines) yield* pagesOf(bodies);
    },
    close: async () => void (await lines.return()),
  };
}

/** For each piece of `input`, the lines that end in it, if any. */
async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Body[], void, undefined> {
  const splitter = new LineSplitter(bytesMax);
  const bodiesOf = (lines: Iterable<Pick<Line, 'bytes'>>): Body[] =>
    Array.from(lines, ({ bytes }) => bytes ?? PROBLEMS.bodyTooLarge);
  for await (const chunk of input) {
    const bodies = bodiesOf(splitter.split(chunk));
    if (bodies.length > 0) yield bodies;
  }
  const bodies = bodiesOf(splitter.end());
  if (bodies.length > 0) yield bodies;
}

/** A row as the body of a request, or the reason why there is none. */
type Body = Uint8Array | RowProblem;

const NO_UTF8: RowProblem = {
  status: UNPROCESSABLE.status,
  detail: 'the line is not UTF-8, perhaps Latin-1: convert the file (iconv -f LATIN1 -t UTF-8)',
};

interface BodyReader {
  readonly parser: WasmParser;
  readonly readRequest: (bytes: Uint8Array) => ReturnType<RequestReader> | RowProblem;
}

function bodyReader({ limits, constants, norms }: BodyPagesOptions, columns: RowColumns): BodyReader {
  const parser = new WasmParser(limits, namesBeside(columns));
  /** Reads lines with a recording, if there are any. */
  let ofRecordings: WasmParser | undefined;
  const reading = { ...limits, norms, measuredApart: columns.history !== undefined };
  const { readBody, readRequest } = readersOf(parser, reading);
  /** In this process: a recording within its bounds fits into its heap, and it has no callers to lose. */
  const readRecorded: BodyReader['readRequest'] = (bytes) => {
    const recorded = attempt(() => readRecordingOf(bytes, (ofRecordings ??= new WasmParser(limits))));
    if (recorded === undefined) return PROBLEMS.internal;
    const outcome = readRequest(recorded.kind === 'read' ? recorded.body : bytes, constants);
    // Refused, it was read all the same: for the columns beside the session.
    return recorded.kind === 'refused' ? recorded.problem : outcome;
  };
  return {
    parser,
    readRequest: (bytes) => {
      const outcome = readBody(bytes, constants);
      return outcome === RECORDING ? readRecorded(bytes) : outcome;
    },
  };
}

/** A mistake of ours costs its row, as in the service its request, and not the run. */
function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

class BodyPage implements Page {
  readonly rows: number;
  /** The fields beside the session, for all rows read. */
  private readonly texts: ReadonlyMap<string, (string | undefined)[]>;
  private given: readonly GivenMeasurement[] = [];

  constructor(
    private bodies: Body[],
    private readonly firstRow: number,
    private readonly reader: BodyReader,
    private readonly columns: RowColumns,
    private readonly constants: ReadonlyMap<string, string>,
  ) {
    this.rows = bodies.length;
    this.texts = new Map(namesBeside(columns).map((name) => [name, []]));
  }

  numberOf(row: number): number {
    return this.firstRow + row;
  }

  read(row: number): ReturnType<Page['read']> {
    const { parser, readRequest } = this.reader;
    const body = this.bodies[row];
    if (body === undefined) throw new Error('a row of a closed page');
    const own = body instanceof Uint8Array && !isUtf8(body) ? NO_UTF8 : body;
    let outcome = own instanceof Uint8Array ? readRequest(own) : own;
    // The search costs as much as reading, so only if a field is unknown and not requested.
    if (own instanceof Uint8Array && this.hasForeign(outcome)) {
      const renamed = inOwnCase(own);
      if (renamed !== own) outcome = renamed instanceof Uint8Array ? readRequest(renamed) : renamed;
    }
    this.given = ('measurements' in outcome ? outcome.measurements : undefined) ?? [];
    for (const [name, texts] of this.texts)
      texts[row] = (own instanceof Uint8Array ? parser.kept(name) : undefined) ?? this.constants.get(name);
    return outcome;
  }

  private hasForeign(outcome: ReturnType<Page['read']>): boolean {
    if (!('unknownFields' in outcome)) return true;
    const { parser } = this.reader;
    const names = [...this.texts.keys()];
    const own = names.filter((name) => !REQUEST_NAMES.has(name) && parser.kept(name) !== undefined);
    return Number(outcome.unknownFields) > own.length;
  }

  kept(name: string, row: number): string | undefined {
    return this.texts.get(name)?.[row];
  }

  person(row: number): string | undefined {
    return this.scalar(this.columns.history?.person, row);
  }

  moment(row: number): string | number | undefined {
    const text = this.scalar(this.columns.history?.order, row);
    return text !== undefined && NUMBER.test(text) ? Number(text) : text;
  }

  measured(): ReturnType<Page['measured']> {
    return this.given;
  }

  close(): void {
    this.bodies = [];
  }

  /** Text, or a number with the digits that it has there; other values count as missing. */
  private scalar(name: string | undefined, row: number): string | undefined {
    const text = name === undefined ? undefined : this.kept(name, row);
    if (text === undefined || !/^["\d-]/.test(text)) return undefined;
    // A line that is no JSON is reported anyway.
    return text.startsWith('"') ? (jsonIn(text) as string | undefined) : text;
  }
}

/** Not digits alone, which mean the same as text. */
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
