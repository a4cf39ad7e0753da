/** Recordings into sessions: what the reader does with one body. */
import type { Adapted } from '#adapters/adapt.js';
import {
  PROVIDERS,
  readRecording,
  recordingProblem,
  type Provider,
  type Recording,
} from '#adapters/recording.js';
import { PERSON_FIELDS, RECORDING_FIELD, SESSION_SCALARS } from '#rules/fields.js';
import { RECORDING_BOUNDS, STRUCTURE_BOUNDS } from '#rules/structure.js';
import { structureFinding, type BodyProblem, type Finding } from '../contract/problems.js';
import { finding, type Loc } from './findings.js';
import { Outline, type Fields, type JsonValue } from './outline.js';
import type { WasmParser } from './wasmParser.js';

/** The fate of a body that was handed over because its current session seems to be a recording. */
export type RecordingOutcome =
  | {
      readonly kind: 'read';
      readonly provider: Provider;
      /** The body with the session that the recording gives. */
      readonly body: Uint8Array;
      /** The field `recording` of the answer: JSON. */
      readonly told: string;
    }
  | { readonly kind: 'refused'; readonly provider: Provider | undefined; readonly problem: BodyProblem }
  /** There is no recording: the body takes its usual way. */
  | { readonly kind: 'absent' };

const SESSION_LOC: Loc = ['body', 'current_session'];
const LOC: Loc = [...SESSION_LOC, RECORDING_FIELD];

/** Bounds of the whole body, before its recording is found; the usual reader checks the rest again. */
const BODY_BOUNDS = {
  levelsMax: RECORDING_BOUNDS.levelsMax,
  bracketsMax: RECORDING_BOUNDS.bracketsMax + STRUCTURE_BOUNDS.bracketsMax,
  stringsMax: RECORDING_BOUNDS.stringsMax + STRUCTURE_BOUNDS.stringsMax,
};
const BEYOND_BOUNDS =
  `A recording should have at most ${RECORDING_BOUNDS.levelsMax} levels of nesting, ` +
  `${RECORDING_BOUNDS.bracketsMax} objects and arrays, ${RECORDING_BOUNDS.stringsMax} strings, and ` +
  `${RECORDING_BOUNDS.scalarsMax} values: send one night, without samples of other days`;
const TOO_LARGE = 'Recording takes too much memory to be read: send one night, without samples of other days';
const BESIDE = `Beside a recording a session has only ${PERSON_FIELDS.join(', ')}: leave this out, or the recording`;

/** A longer name of the caller's own is not repeated in an answer. */
const NAME_MAX = 100;

/** Where the parts of a body lie, as offsets in it. */
interface Parts {
  readonly recording: JsonValue;
  readonly sessionEnd: number;
  readonly bodyEnd: number;
  /** There is a history and no night: the recording's night is the night. */
  readonly wantsNight: boolean;
}

/**
 * Writes the session of a recording into its body. The usual reader then reads that like any other body, so there is
 * one way alone from a session to a request, and the scores are those of the session.
 */
export function readRecordingOf(bytes: Uint8Array, parser: WasmParser): RecordingOutcome {
  parser.open(bytes);
  const badByte = parser.check(BODY_BOUNDS);
  if (badByte === 'beyondBounds') return refused([structureFinding(LOC, BEYOND_BOUNDS, RECORDING_BOUNDS)]);
  if (badByte >= 0)
    return { kind: 'refused', provider: undefined, problem: { kind: 'malformed', byte: badByte } };
  const parts = partsIn(new Outline(parser), parser.input);
  if (parts === undefined) return { kind: 'absent' };
  if ('findings' in parts) return refused(parts.findings);
  const text = bytes.subarray(parts.recording.start, parts.recording.end);
  parser.open(text);
  if (parser.check(RECORDING_BOUNDS) === 'beyondBounds')
    return refused([structureFinding(LOC, BEYOND_BOUNDS, RECORDING_BOUNDS)]);
  return adapted(bytes, parts, JSON.parse(Buffer.from(text).toString()));
}

/** Where the recording lies, or what else the session has; undefined if there is none. */
function partsIn(outline: Outline, input: number): Parts | { findings: Finding[] } | undefined {
  const body = outline.body();
  if (!outline.isObject(body)) return undefined;
  const top = outline.fields(body, 'top').fields;
  const session = top.get('current_session');
  if (session === undefined || !outline.isObject(session)) return undefined;
  const { fields } = outline.fields(session, 'session');
  const recording = fields.get(RECORDING_FIELD);
  if (recording === undefined || outline.isNull(recording)) return undefined;
  const findings = besides(outline, fields);
  if (findings.length > 0) return { findings };
  return {
    recording: { start: recording.start - input, end: recording.end - input },
    sessionEnd: session.end - input,
    bodyEnd: body.end - input,
    wantsNight: isString(outline, top.get('history')) && outline.isAbsent(top.get('night')),
  };
}

function isString(outline: Outline, value: JsonValue | undefined): boolean {
  return value !== undefined && outline.isString(value);
}

const ALLOWED: readonly string[] = [...PERSON_FIELDS, RECORDING_FIELD];
const SCALARS: readonly string[] = SESSION_SCALARS;

function besides(outline: Outline, fields: Fields): Finding[] {
  const wrong = [...fields].filter(
    ([name, value]) => !ALLOWED.includes(name) && isGiven(outline, name, value),
  );
  return wrong.map(([name]) => finding([...SESSION_LOC, name], 'value_error', BESIDE));
}

/** An empty list is absence in the place of a series, and of nothing else. */
function isGiven(outline: Outline, name: string, value: JsonValue): boolean {
  return SCALARS.includes(name) ? !outline.isAbsent(value) : outline.hasValue(value);
}

function adapted(bytes: Uint8Array, parts: Parts, recording: unknown): RecordingOutcome {
  if (!isRecording(recording)) return refused([finding(LOC, 'object_type')]);
  const provider = PROVIDERS.find((name) => name === recording['provider']);
  try {
    const night = readRecording(recording);
    if (provider === undefined) throw new RangeError('a recording was read whose provider is unknown');
    return { kind: 'read', provider, body: spliced(bytes, parts, night), told: told(night) };
  } catch (error) {
    const problem = recordingProblem(error);
    if (problem === undefined) throw error;
    return refused([finding(locOf(problem.path), problem.type, problem.sentence)], provider);
  }
}

function isRecording(value: unknown): value is Recording {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The place in the body, as far as its names are no longer than those of providers. */
function locOf(path: Loc): Loc {
  const long = path.findIndex((step) => typeof step === 'string' && step.length > NAME_MAX);
  return [...LOC, ...(long === -1 ? path : path.slice(0, long))];
}

/**
 * The body with `null` for the recording, and the fields of its session at the end of the current session, where they
 * count if one stands twice.
 */
function spliced(bytes: Uint8Array, parts: Parts, { session, night }: Adapted): Uint8Array {
  const { recording, sessionEnd, bodyEnd, wantsNight } = parts;
  const fields = JSON.stringify(session).slice(1, -1);
  const dated = wantsNight && night !== null ? `,"night":${JSON.stringify(night)}` : '';
  const pieces = [
    bytes.subarray(0, recording.start),
    Buffer.from('null'),
    bytes.subarray(recording.end, sessionEnd - 1),
    Buffer.from(fields === '' ? '' : `,${fields}`),
    bytes.subarray(sessionEnd - 1, bodyEnd - 1),
    Buffer.from(dated),
    bytes.subarray(bodyEnd - 1),
  ];
  return Buffer.concat(pieces);
}

function told({ at, night, sleep, left }: Adapted): string {
  const source = sleep?.source?.slice(0, NAME_MAX) ?? null;
  return JSON.stringify({ at, night, sleep: sleep && { ...sleep, source }, left });
}

/** The outcome of a recording that its reader has no memory for. */
export function tooLarge(): RecordingOutcome {
  return refused([{ loc: LOC, msg: TOO_LARGE, type: 'too_long' }]);
}

function refused(findings: readonly Finding[], provider?: Provider): RecordingOutcome {
  return { kind: 'refused', provider, problem: { kind: 'unprocessable', findings } };
}
