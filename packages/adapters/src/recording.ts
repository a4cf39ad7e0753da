import { AdapterError, type Path } from './adapterError.js';
import type { Adapted, AdapterOptions } from './adapt.js';
import { fromAppleHealth } from './providers/appleHealth.js';
import { fromFitbitArchive } from './providers/fitbitArchive.js';
import { fromGarmin } from './providers/garmin.js';
import { fromGarminConnect } from './providers/garminConnect.js';
import { fromGoogleHealth } from './providers/googleHealth.js';
import { fromHealthAutoExport } from './providers/healthAutoExport.js';
import { fromHealthConnect } from './providers/healthConnect.js';
import { fromIntervals } from './providers/intervals.js';
import { fromJunction } from './providers/junction.js';
import { fromOura } from './providers/oura.js';
import { fromPolar } from './providers/polar.js';
import { fromTerra } from './providers/terra.js';
import { fromWhoop } from './providers/whoop.js';
import { fromWithings } from './providers/withings.js';
import type { Left } from './records.js';
import type { Session } from './session.js';
import { UnitError } from './unitChecks.js';

/** What a caller sent as `recording`, parsed as JSON. */
export type Recording = Readonly<Record<string, unknown>>;

/** What is wrong with a recording: the place within it, the type of a 422's finding, and the sentence. */
export interface RecordingProblem {
  readonly path: Path;
  readonly type: 'recording_invalid' | 'unit_error' | 'literal_error';
  readonly sentence: string;
}

interface Reader {
  /** The names of the provider's answers. */
  readonly fields: readonly string[];
  readonly read: (recording: AdapterOptions & Recording) => Adapted;
}

const READERS = {
  terra: { fields: ['sleep', 'daily'], read: fromTerra },
  junction: { fields: ['sleep', 'heart_rate', 'respiratory_rate'], read: fromJunction },
  oura: { fields: ['sleep', 'heart_rate'], read: fromOura },
  whoop: { fields: ['sleep'], read: fromWhoop },
  google_health: { fields: ['sleep', 'heart_rate', 'respiratory_rate'], read: fromGoogleHealth },
  health_auto_export: { fields: ['export'], read: fromHealthAutoExport },
  apple_health: { fields: ['records'], read: fromAppleHealth },
  withings: { fields: ['summary', 'sleep', 'activity'], read: fromWithings },
  polar: { fields: ['sleep', 'recharge', 'heart_rate'], read: fromPolar },
  fitbit_archive: { fields: ['sleep', 'heart_rate'], read: fromFitbitArchive },
  health_connect: { fields: ['sleep', 'heart_rate', 'respiratory_rate'], read: fromHealthConnect },
  garmin: { fields: ['sleep', 'daily', 'respiration'], read: fromGarmin },
  garmin_connect: { fields: ['sleep', 'heart_rate', 'respiration'], read: fromGarminConnect },
  intervals: { fields: ['stages', 'heart_rate', 'respiratory_rate'], read: fromIntervals },
} as const satisfies Readonly<Record<string, Reader>>;

export type Provider = keyof typeof READERS;
/** The values of a recording's `provider`. */
export const PROVIDERS = Object.keys(READERS) as readonly Provider[];

/** The names of a provider's answers in its recording. */
export function answersOf(provider: Provider): readonly string[] {
  return READERS[provider].fields;
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
  const provider = providerOf(recording);
  const { read }: Reader = READERS[provider];
  const { session, left, ...adapted } = read({ ...recording, person: {} });
  const all = [...unknownFields(recording, provider), ...left];
  return { ...adapted, session: { ...session, ...person }, left: capped(all) };
}

/** What an error of `readRecording` says of the recording; undefined if it says nothing of it. */
export function recordingProblem(error: unknown): RecordingProblem | undefined {
  if (!(error instanceof AdapterError || error instanceof UnitError)) return undefined;
  const { path, type, sentence } = error;
  return { path, type, sentence };
}

function providerOf({ provider }: Recording): Provider {
  const known = PROVIDERS.find((name) => name === provider);
  if (known !== undefined) return known;
  const way = WAYS.find(([names]) => names.some((name) => name === provider))?.[1];
  const sentence = `${way === undefined ? '' : `${way}; `}expected one of ${PROVIDERS.join(', ')}`;
  throw new AdapterError(['provider'], sentence, 'literal_error');
}

const OF_ITS_OWN = 'its answers are not read: send its stages and heart rate as intervals';
const BY_ANDROID = 'its files are not read: let it share with Health Connect, or send its table as intervals';

/** Providers that are asked for and not read, and the way for their data. */
const WAYS: readonly (readonly [names: readonly string[], way: string])[] = [
  [['samsung_health', 'samsung', 'zepp', 'amazfit', 'mi_fitness', 'mi_fit', 'huami'], BY_ANDROID],
  [['ultrahuman', 'eight_sleep', 'coros', 'suunto'], OF_ITS_OWN],
  [['fitbit'], 'google_health reads what has replaced its Web API, fitbit_archive an export'],
  [['vital'], 'it is called junction now'],
];

/** A field that is not read is told: most likely it is a mistyped one. */
function unknownFields(recording: Recording, provider: Provider): Left[] {
  const known: readonly string[] = [...OPTIONS, ...READERS[provider].fields];
  const why = `is no field of a recording of ${provider}, which has ${known.join(', ')}`;
  const names = Object.keys(recording).filter((name) => !known.includes(name) && isSent(recording[name]));
  return names.map((name) => ({ what: name.length <= NAME_MAX ? name : 'a field', why }));
}

/** A longer name is not repeated. */
const NAME_MAX = 40;

function isSent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function capped(left: readonly Left[]): readonly Left[] {
  if (left.length <= LEFT_MAX) return left;
  return [...left.slice(0, LEFT_MAX), { what: 'left', why: `${left.length - LEFT_MAX} more were left out` }];
}
