/** Pages of rows from NDJSON, one JSON body per line. */
import { isUtf8 } from 'node:buffer';
import { parsedJson } from '../../base/json.js';
import { PROBLEMS, UNPROCESSABLE } from '../../contract/problems.js';
import { FIELD_NAMES, type SeriesLimits } from '#rules/fields.js';
import type { Norms } from '../../contract/norms.js';
import { RECORDING } from '../../read/exact.js';
import { readersOf, type RequestReader } from '../../read/read.js';
import { readRecordingOf } from '../../read/readRecording.js';
import { WasmParser } from '../../read/wasmParser.js';
import type { MeasuringConstants } from '../../night/measuredRow.js';
import type { GivenMeasurement } from '../../night/request.js';
import { splitLines, type Line } from './lineSplitter.js';
import type { Partition } from './inputs.js';
import { namesBeside, type RowColumns } from './names.js';
import { NamesError, rowProblem, type RowProblem } from '../errors.js';
import type { OpenInput, Page } from './page.js';
import { ROWS_SEEN, SeenNames, isObject, namesOfRows } from './rowNames.js';

export interface BodyPagesOptions {
  readonly limits: SeriesLimits;
  /** A longer body is a bad row. */
  readonly bodyMaxBytes: number;
  /** The scoring model's constants; undefined if it takes no measurements. */
  readonly constants?: MeasuringConstants | undefined;
  /** The service's if absent. */
  readonly norms?: Norms | undefined;
  /** Gets remarks on names in rows far from the beginning. */
  readonly onRemark?: (remark: string) => void;
}

const REQUEST_NAMES: ReadonlySet<string> = new Set(FIELD_NAMES.request);

/** Most rows of a page: a page is written when all of it is scored. */
const ROWS_MAX = 512;

/** Opens an input with one JSON body per line. */
export async function openLines(
  input: AsyncIterable<Uint8Array>,
  options: BodyPagesOptions,
  partitions: readonly Partition[],
): Promise<OpenInput> {
  const lines = linesOf(input, options.bodyMaxBytes);
  // The first chunk decides the names, because a caller may wait for the scores of its first line.
  const first = await lines.next();
  const seen = first.done === true ? [] : first.value.slice(0, ROWS_SEEN);
  const names = namesOfRows(
    seen.flatMap(({ bytes }) => bytes ?? []),
    partitions,
  );
  return {
    names,
    async *pages(columns) {
      const missing = partitions.filter(({ name }) => names?.ofPath?.get(name) !== true);
      const seenNames = new SeenNames(seen, names, columns, options.onRemark ?? (() => undefined));
      const pageOf = pageReader(options, columns, missing, seenNames);
      try {
        for (let next = first; next.done !== true; next = await lines.next())
          for (let at = 0; at < next.value.length; at += ROWS_MAX)
            yield pageOf(next.value.slice(at, at + ROWS_MAX));
      } finally {
        await lines.return();
      }
    },
    close: async () => void (await lines.return()),
  };
}

/**
 * For each piece of `input`, the lines that end in it, if any; without empty ones, and without a mark of the byte order.
 * @throws NamesError if these are no lines of JSON
 */
async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Line[], void, undefined> {
  async function* checked(): AsyncGenerator<Uint8Array, void, undefined> {
    let isFirst = true;
    for await (const piece of input) {
      if (isFirst) refuseOtherForms(Buffer.from(piece.subarray(0, HEAD_BYTES)).toString('latin1'));
      isFirst &&= piece.length === 0;
      yield piece;
    }
  }
  for await (const all of splitLines(checked(), bytesMax)) {
    const lines = all.map(withoutMark).filter(hasText);
    if (lines.length > 0) yield lines;
  }
}

const MARK = Buffer.from('\ufeff');

function withoutMark(line: Line): Line {
  const { number, bytes } = line;
  if (number > 1 || bytes === undefined || !MARK.equals(bytes.subarray(0, MARK.length))) return line;
  return { number, bytes: bytes.subarray(MARK.length) };
}

function hasText({ bytes }: Line): boolean {
  return bytes === undefined || bytes.some((byte) => byte > SPACE);
}

const SPACE = 0x20;
const HEAD_BYTES = 1 << 16;

/** Other forms by their beginning, its bytes as Latin-1, if the first line is no object. */
const FORMS: readonly (readonly [form: RegExp, words: string])[] = [
  [/^(\xff\xfe|\xfe\xff|\0|[^]\0)/, 'this is UTF-16: convert it (iconv -f UTF-16 -t UTF-8)'],
  [/^PAR1/, 'this is Parquet: name it .parquet, or give --format parquet'],
  [/^\[/, "this is one array, not a row in each line: jq -c '.[]' makes lines of it"],
  [/^\{([^\n]*[,{[])?\s*\n/, 'a row takes several lines: jq -c . makes one line of each'],
  [/^\{[^\n]*\}[^\S\n]*\{/, 'several rows stand in one line: jq -c . makes one line of each'],
];

/** @throws NamesError */
function refuseOtherForms(piece: string): void {
  const head = piece.replace(/^\xef\xbb\xbf/, '').trimStart();
  if (isObject(parsedJson(/^[^\n]*/.exec(head)?.[0] ?? ''))) return;
  const [, words] = FORMS.find(([form]) => form.test(head)) ?? [];
  if (words !== undefined) throw new NamesError(words);
}

/** Forms that are no JSON and are often written. */
const NOT_JSON: readonly (readonly [form: RegExp, words: string])[] = [
  [
    /[[:,]\s*[-+]?(NaN|nan|Infinity|inf)\b/,
    'JSON has neither NaN nor infinity: write null, or leave the field out',
  ],
  [/\}\s*\{/, 'several rows in one line: jq -c . makes one line of each'],
];

function malformed(outcome: Parameters<typeof rowProblem>[0], bytes: Uint8Array): RowProblem {
  const problem = rowProblem(outcome);
  const text = outcome.kind === 'malformed' ? Buffer.from(bytes).toString('latin1') : '';
  const [, words] = NOT_JSON.find(([form]) => form.test(text)) ?? [];
  return words === undefined ? problem : { ...problem, detail: `${String(problem.detail)}: ${words}` };
}

const NO_UTF8: RowProblem = {
  status: UNPROCESSABLE.status,
  detail: 'the line is not UTF-8, perhaps Latin-1: convert the file (iconv -f LATIN1 -t UTF-8)',
};

type BodyReader = (bytes: Uint8Array) => ReturnType<RequestReader> | RowProblem;

function bodyReader(
  parser: WasmParser,
  { limits, constants, norms }: BodyPagesOptions,
  measuredApart: boolean,
): BodyReader {
  /** Reads lines with a recording, if there are any. */
  let ofRecordings: WasmParser | undefined;
  const { readBody, readRequest } = readersOf(parser, { ...limits, norms, measuredApart });
  /** In this process: a recording within its bounds fits into its heap, and it has no callers to lose. */
  const readRecorded: BodyReader = (bytes) => {
    let recorded: ReturnType<typeof readRecordingOf>;
    try {
      recorded = readRecordingOf(bytes, (ofRecordings ??= new WasmParser(limits)));
    } catch {
      return PROBLEMS.internal; // a mistake of ours costs its row, as in the service its request, and not the run
    }
    const outcome = readRequest(recorded.kind === 'read' ? recorded.body : bytes, constants);
    // Refused, it was read all the same: for the columns beside the session.
    return recorded.kind === 'refused' ? recorded.problem : outcome;
  };
  return (bytes) => {
    const outcome = readBody(bytes, constants);
    return outcome === RECORDING ? readRecorded(bytes) : outcome;
  };
}

/** Reads lines as the requests that they are. For one thread. */
function pageReader(
  options: BodyPagesOptions,
  columns: RowColumns,
  partitions: readonly Partition[],
  seenNames: SeenNames,
): (lines: readonly Line[]) => Page {
  const { history } = columns;
  const names = namesBeside(columns);
  const parser = new WasmParser(options.limits, names);
  const readRequest = bodyReader(parser, options, history !== undefined);
  const ownNames = names.filter((name) => !REQUEST_NAMES.has(name));
  // Values from the file's path, the same for all rows.
  const constants = new Map(partitions.map(({ name, value }) => [name, JSON.stringify(value)]));
  const hasForeign = (outcome: object): boolean => {
    if (!('unknownFields' in outcome)) return true;
    return Number(outcome.unknownFields) > ownNames.filter((name) => parser.kept(name) !== undefined).length;
  };
  return (ofPage) => {
    let lines = ofPage;
    const numbers = lines.map(({ number }) => number);
    /** The fields beside the session, for all rows read. */
    const texts = new Map(names.map((name) => [name, [] as (string | undefined)[]]));
    let given: readonly GivenMeasurement[] = [];
    /** Text, or a number with the digits that it has there; other values count as missing. */
    const scalar = (name: string | undefined, row: number): string | undefined => {
      const text = name === undefined ? undefined : texts.get(name)?.[row];
      if (text === undefined || !/^["\d-]/.test(text)) return undefined;
      // A line that is no JSON is reported anyway.
      return text.startsWith('"') ? (parsedJson(text) as string | undefined) : text;
    };
    return {
      rows: lines.length,
      numberOf: (row) => numbers[row] ?? NaN,
      read(row) {
        const line = lines[row];
        if (line === undefined) throw new Error('a row of a closed page');
        const { number, bytes = NONE } = line;
        const unread = line.bytes === undefined ? PROBLEMS.bodyTooLarge : isUtf8(bytes) ? undefined : NO_UTF8;
        const outcome = unread ?? readRequest(bytes);
        // The search costs as much as reading, so only if a field is unknown and not requested.
        if (unread === undefined && hasForeign(outcome)) seenNames.look(bytes, number);
        given = ('measurements' in outcome ? outcome.measurements : undefined) ?? [];
        for (const [name, all] of texts)
          all[row] = (unread === undefined ? parser.kept(name) : undefined) ?? constants.get(name);
        return 'kind' in outcome ? malformed(outcome, bytes) : outcome;
      },
      kept: (name, row) => texts.get(name)?.[row],
      person: (row) => scalar(history?.person, row),
      moment: (row) => scalar(history?.order, row),
      measured: () => given,
      close() {
        lines = [];
      },
    };
  };
}

const NONE = new Uint8Array();
