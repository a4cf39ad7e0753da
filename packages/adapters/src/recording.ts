import { AdapterError, type Path } from './adapterError.js';
import type { Adapted, Adapter, AdapterOptions } from './adapt.js';
import * as providers from './providers.js';
import type { Left, Records, SleepRecord } from './records.js';
import type { Session } from './session.js';
import { UnitError } from './unitChecks.js';

/** The `recording` of a request, parsed as JSON. */
export type Recording = Readonly<Record<string, unknown>>;

/** The fault of a recording: the place within it, the type of a 422's finding, and the sentence. */
export interface RecordingProblem {
  readonly path: Path;
  readonly type: 'recording_invalid' | 'unit_error' | 'literal_error';
  readonly sentence: string;
}

type Known = (typeof providers)[keyof typeof providers];
export type Provider = Known['provider'];

type Reader = Adapter<Provider, AdapterOptions & Recording>;
const READERS = new Map(Object.values(providers).map((one: Reader) => [one.provider, one]));

/** The values of a recording's `provider`. */
export const PROVIDERS: readonly Provider[] = [...READERS.keys()];

/** The names of a provider's answers in its recording. */
export function answersOf(provider: Provider): readonly string[] {
  return READERS.get(provider)?.answers ?? [];
}

/** Whether a provider's answers are rows of tables, which may come as CSV. @internal */
export function isOfTables(provider: Provider): boolean {
  return READERS.get(provider)?.areTables === true;
}

const OPTIONS = ['provider', 'at', 'zone', 'newest_night_within_hours'] as const;
/** Entries of `left` that are returned; one more says how many there were. */
const LEFT_MAX = 50;

/**
 * The session of a recording.
 * @param person  the session's fields of the person: they are added as they are, for the session's reader to check
 * @throws AdapterError or UnitError, which `recordingProblem` tells apart; anything else is a mistake of this module
 */
export function readRecording(recording: Recording, person: Partial<Session> = {}): Adapted {
  const read = readerOf(recording);
  const { session, left, ...adapted } = read({ ...recording, person: {} });
  const all = [...unknownFields(recording, read), ...left];
  return { ...adapted, session: { ...session, ...person }, left: capped(all) };
}

/**
 * All that a recording holds, and in `left` what it has besides: for those who want every night.
 * @throws AdapterError as above
 * @internal
 */
export function recordsOf(
  recording: Recording,
): Omit<Records, 'sleeps'> & { readonly sleeps: readonly SleepRecord[] | undefined } {
  const reader = readerOf(recording);
  const records = reader.records({ ...recording });
  const left = [...unknownFields(recording, reader), ...(records.left ?? [])];
  return { ...records, sleeps: records.sleeps?.(Infinity), left };
}

/** The fault that an error of `readRecording` reports; undefined if it is no fault of the recording. */
export function recordingProblem(error: unknown): RecordingProblem | undefined {
  if (!(error instanceof AdapterError || error instanceof UnitError)) return undefined;
  const { path, type, sentence } = error;
  return { path, type, sentence };
}

function readerOf({ provider }: Recording): Reader {
  const known = READERS.get(provider as Provider);
  if (known !== undefined) return known;
  const way = typeof provider === 'string' ? wayOf(provider) : undefined;
  const sentence = `${way === undefined ? '' : `${way}; `}expected one of ${PROVIDERS.join(', ')}`;
  throw new AdapterError(['provider'], sentence, 'literal_error');
}

/** The remedy for a provider that is not read, in any spelling; undefined if none is known. @internal */
export function wayOf(provider: string): string | undefined {
  const spelled = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '');
  const name = spelled(provider.slice(0, NAME_MAX));
  const known = PROVIDERS.find((one) => spelled(one) === name);
  if (known !== undefined) return `it is called ${known}`;
  return WAYS.find(([names]) => names.some((one) => spelled(one) === name))?.[1];
}

const OF_ITS_OWN = 'its answers are not read: send its stages and heart rate as intervals';
const BY_ANDROID = 'its files are not read: let it share with Health Connect, or send its table as intervals';
const BETWEEN = 'it passes on what others recorded, and is not read: send that as intervals';

/** Providers that are asked for and not read, and the way for their data. */
const WAYS: readonly (readonly [names: readonly string[], way: string])[] = [
  [['ultrahuman', 'eight_sleep', 'coros', 'suunto'], OF_ITS_OWN],
  [['huawei', 'huawei_health', 'xiaomi', 'mi_fitness', 'gadgetbridge'], BY_ANDROID],
  [['sahha', 'rook', 'spike', 'thryve', 'validic'], BETWEEN],
  [['samsung'], 'it is called samsung_health'],
  [['amazfit', 'huami', 'mi_fit', 'zepp_life'], 'Zepp exports its data: it is called zepp'],
  [['fitbit'], 'google_health reads what has replaced its Web API, fitbit_archive an export'],
  [['vital'], 'it is called junction now'],
  [['apple', 'healthkit'], 'it is called apple_health'],
  [['flutter'], 'it is called flutter_health'],
];

/** A field that is not read is told: most likely it is a mistyped one. */
function unknownFields(recording: Recording, { provider, answers }: Reader): Left[] {
  const known: readonly string[] = [...OPTIONS, ...answers];
  const why = `is no field of a recording of ${provider}, which has ${known.join(', ')}`;
  const names = Object.keys(recording).filter(
    (name) => !known.includes(name) && (recording[name] ?? null) !== null,
  );
  return names.map((name) => ({ what: name.length <= NAME_MAX ? name : 'a field', why }));
}

/** A longer name is not repeated. */
const NAME_MAX = 40;

function capped(left: readonly Left[]): readonly Left[] {
  if (left.length <= LEFT_MAX) return left;
  return [...left.slice(0, LEFT_MAX), { what: 'left', why: `${left.length - LEFT_MAX} more were left out` }];
}
