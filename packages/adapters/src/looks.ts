/**
 * Other data that a caller may pass by mistake: the names that identify it, and what it is. The first that fits
 * counts.
 */
const LOOKS: readonly (readonly [names: readonly string[], what: string])[] = [
  [['dailySleepDTO'], "Garmin Connect's own form"],
  [['nightSleeps'], 'Polar v4'],
  [['sleepResult', 'sleepDate'], 'Polar v4'],
  [['nights'], 'an answer of Polar v3'],
  [['sleep_start_time'], 'a night of Polar v3'],
  [['dataPoints'], 'an answer of Google Health'],
  [['sleeps'], 'a notification of Garmin'],
  [['startTimeInSeconds'], 'a summary of Garmin'],
  [['event_type', 'data'], 'a webhook event of Junction'],
  [['groups'], 'a grouped timeseries of Junction'],
  [['bedtime_start', 'bedtime_stop'], 'a sleep of Junction'],
  [['bedtime_start', 'bedtime_end'], 'a document of Oura'],
  [['score_state'], 'a sleep of WHOOP'],
  [['records', 'next_token'], 'an answer of WHOOP'],
  [['data', 'next_token'], 'an answer of Oura'],
  [['dateOfSleep'], "a sleep log of Fitbit's"],
  [['sleep', 'summary'], "an answer of Fitbit's Web API"],
  [['body', 'status'], 'an answer of Withings'],
  [['user', 'data'], 'an event of Terra'],
  [['metadata', 'sleep_durations_data'], 'a sleep of Terra'],
];
/** No answer with data has one of these names. */
const OF_ERRORS = 'error errors error_description detail message fault title errorMessage'.split(' ');

/** The look of a value of another form, in words; undefined if that can't be told. @internal */
export function lookOf(value: unknown): string | undefined {
  if (typeof value === 'string') return 'this is text: parse it as JSON first';
  if (Array.isArray(value)) {
    const first: unknown = value[0];
    const inner = Array.isArray(first) ? undefined : lookOf(first);
    return inner === undefined ? 'this is a list' : inner.replace('this is', 'this is a list; its first is');
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const has = (name: string) => (value as Readonly<Record<string, unknown>>)[name] !== undefined;
  if (OF_ERRORS.some(has)) return 'this is an error answer';
  const look = LOOKS.find(([names]) => names.every(has));
  return look === undefined ? undefined : `this is ${look[1]}`;
}
