import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { recordsOf, type Field, type Sent } from '../field.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import { series } from '../series.js';
import type { Span } from '../sleep.js';

/**
 * Archives of Fitbit (Google Takeout): the files `sleep-*.json` and `heart_rate-*.json`. The sleep logs are those of
 * the Fitbit Web API, https://dev.fitbit.com/build/reference/web-api/sleep, 2026-11-22; their times are local.
 * Unverified: the format of the heart rate's files, and that its times are UTC, which no document says.
 */
export interface FitbitArchiveInput extends AdapterOptions {
  /** The content of `sleep-*.json`, or of several, one after the other. */
  readonly sleep?: unknown;
  /** The content of `heart_rate-*.json`, in the same way. */
  readonly heart_rate?: unknown;
}

/** The session of an archive of Fitbit. */
export const fromFitbitArchive = /* @__PURE__ */ adapter(
  'fitbit_archive',
  ['sleep', 'heart_rate'],
  recordsIn,
);

function recordsIn(sent: Sent<FitbitArchiveInput>): Records {
  // Of confidence 0 it is the last pulse, and none was measured.
  const value = (one: Field) =>
    one.get('value', 'confidence').number() === 0 ? undefined : one.get('value', 'bpm').number();
  const samples = filesOf(sent, 'heart_rate') ?? [];
  const heart = series(sent('heart_rate'), samples, (one) => heartMs(one.get('dateTime')), value);
  return { sleeps: sleepRecords(filesOf(sent, 'sleep'), sleepOf), heart: [heart] };
}

function filesOf(sent: Sent<FitbitArchiveInput>, name: 'sleep' | 'heart_rate'): Field[] | undefined {
  const what = `the list of a file ${name}-*.json of the archive`;
  return recordsOf(sent(name), { isList: true, what });
}

/** "03/01/26 06:45:00", month first. */
function heartMs(field: Field): number {
  const found = /^(\d\d)\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d)$/.exec(field.text() ?? '');
  if (found === null) field.fail('expected a time as 03/01/26 06:45:00');
  return field.as(`20${found[3]}-${found[1]}-${found[2]}T${found[4]}Z`).moment();
}

function sleepOf(field: Field): SentSleep {
  const main = field.get('mainSleep');
  const summary = field.get('levels', 'summary');
  const minutes = (stage: string) => summary.get(stage, 'minutes').number();
  const read = (span: Span): SleepDetails => {
    const asleep = field.get('minutesAsleep').number();
    // A classic log knows asleep, restless and awake: only the sum of sleep is known.
    const isClassic = field.get('type').text() === 'classic';
    const stages = isClassic
      ? { awake: field.get('minutesAwake').number() }
      : {
          deep: minutes('deep'),
          rem: minutes('rem'),
          light: minutes('light'),
          awake: minutes('wake') ?? field.get('minutesAwake').number(),
        };
    return durations(summary, span, 'minutes', { ...stages, asleep });
  };
  // A second log of the night is not the main one, and no nap: when it was decides.
  return { field, from: field.get('startTime'), to: field.get('endTime'), isMain: main.flag(), read };
}
