import { below, pick, type Random } from '#acuity/base/random.js';
import type { Provider, Recording } from '#adapters/recording.js';

/** Recordings that may be dear to read: how many sleeps and samples, where in time, of how many sources. */
export interface Genome {
  readonly provider: Provider;
  /** The share of sleeps among sleeps and samples. */
  readonly sleeps: number;
  /** Length of a sleep, and from the beginning of one to that of the next; 0 for all at one time. */
  readonly lengthS: number;
  readonly stepS: number;
  /** From one sample to the next: some seconds, or as far as years reach. */
  readonly sampleS: number;
  /** Each sleep and sample of its own source. */
  readonly isOfMany: boolean;
  readonly isMain: boolean;
  /** '' for none: the times then have offsets. */
  readonly zone: string;
}

export const LENGTHS_S = [1, 60, 3_600, 4 * 3_600, 8 * 3_600] as const;
export const STEPS_S = [0, 2, 61, 1_800, 4 * 3_600, 86_400, 8 * 86_400] as const;
const SAMPLES_S = [1, 5, 3_600, 9 * 86_400] as const;
const ZONES = ['', '+01:00', 'Europe/Berlin', 'Africa/Casablanca'] as const;
/** The morning that is scored; all else lies before it. */
const AT_MS = Date.UTC(2026, 2, 29, 7);
const NIGHT_S = 8 * 3_600;
/** Times before are of no recording. */
const FIRST_S = Date.UTC(1974, 0, 1) / 1000;

export function randomGenome(provider: Provider, random: Random): Genome {
  return {
    provider,
    sleeps: pick(random, [0.01, 0.5, 1]),
    lengthS: pick(random, LENGTHS_S),
    stepS: pick(random, STEPS_S),
    sampleS: pick(random, SAMPLES_S),
    isOfMany: random() < 0.5,
    isMain: random() < 0.5,
    zone: pick(random, ZONES),
  };
}

/** The genome with one gene of another. */
export function changed(genome: Genome, random: Random): Genome {
  const other = randomGenome(genome.provider, random);
  const names = Object.keys(other) as (keyof Genome)[];
  const name = names[below(random, names.length)] ?? 'zone';
  return { ...genome, [name]: other[name] };
}

/** A recording of so many sleeps and samples. */
export function recordingOf(genome: Genome, items: number): Recording {
  const { provider, sleeps: share, lengthS, stepS, sampleS, zone } = genome;
  const toS = AT_MS / 1000 - 600;
  const sleeps = Array.from({ length: Math.ceil(items * share) }, (_, index) => {
    const end = back(toS, index * stepS);
    return {
      from: end - lengthS,
      to: end,
      source: genome.isOfMany ? `app${index}` : 'app',
      isMain: genome.isMain,
    };
  });
  const samples = Array.from({ length: items - sleeps.length }, (_, index) => ({
    at: back(toS, index * sampleS),
    source: genome.isOfMany ? `app${index}` : 'app',
  }));
  const isLocal = zone !== '';
  return {
    provider,
    at: new Date(AT_MS).toISOString(),
    ...(isLocal && { zone }),
    ...FORMS[provider](sleeps.toReversed(), samples, (s) => timeOf(s, isLocal)),
  };
}

/** Within the years of recordings, again and again. */
function back(fromS: number, byS: number): number {
  return fromS - (byS % (fromS - FIRST_S - NIGHT_S));
}

function timeOf(seconds: number, isLocal: boolean): string {
  const text = new Date(seconds * 1000).toISOString();
  return isLocal ? text.slice(0, -5) : text;
}

interface Sleep {
  readonly from: number;
  readonly to: number;
  readonly source: string;
  readonly isMain: boolean;
}

interface Sample {
  readonly at: number;
  readonly source: string;
}

type Form = (sleeps: readonly Sleep[], samples: readonly Sample[], time: (s: number) => string) => Recording;

const points = (samples: readonly Sample[], time: (s: number) => string) =>
  samples.map(({ at }) => ({ time: time(at), beatsPerMinute: 60 }));

/** Each provider's form with as few bytes as it can have. */
const FORMS: Readonly<Record<Provider, Form>> = {
  terra: (sleeps, samples, time) => ({
    sleep: {
      data: sleeps.map(({ from, to }) => ({
        metadata: { start_time: time(from), end_time: time(to) },
        sleep_durations_data: { asleep: { duration_asleep_state_seconds: to - from } },
      })),
    },
    daily: { data: [{ heart_rate_data: { detailed: { hr_samples: samples.map(({ at }) => ({ timestamp: time(at), bpm: 60 })) } } }] }, // prettier-ignore
  }),
  junction: (sleeps, samples, time) => ({
    sleep: {
      sleep: sleeps.map(({ from, to, source }) => ({ bedtime_start: time(from), bedtime_stop: time(to), total: to - from, source: { provider: source } })), // prettier-ignore
    },
    heart_rate: {
      groups: Object.fromEntries(
        samples.map(({ at, source }) => [source, [{ data: [{ timestamp: time(at), value: 60 }] }]]),
      ),
    },
  }),
  oura: (sleeps, samples, time) => ({
    sleep: {
      data: sleeps.map(({ from, to, isMain }) => ({ type: isMain ? 'long_sleep' : 'sleep', bedtime_start: time(from), bedtime_end: time(to), total_sleep_duration: to - from })), // prettier-ignore
    },
    heart_rate: { data: samples.map(({ at }) => ({ timestamp: time(at), bpm: 60 })) },
  }),
  whoop: (sleeps, _, time) => ({
    sleep: {
      records: sleeps.map(({ from, to }) => ({ start: time(from), end: time(to), score_state: 'SCORED', score: { stage_summary: { total_light_sleep_time_milli: (to - from) * 1000 } } })), // prettier-ignore
    },
  }),
  google_health: (sleeps, samples, time) => ({
    sleep: {
      dataPoints: sleeps.map(({ from, to, source, isMain }) => ({ sleep: { interval: { startTime: time(from), endTime: time(to) }, metadata: { mainSleep: isMain } }, dataSource: { platform: source } })), // prettier-ignore
    },
    heart_rate: {
      dataPoints: samples.map(({ at, source }) => ({ heartRate: { sampleTime: { physicalTime: time(at) }, beatsPerMinute: '60' }, dataSource: { platform: source } })), // prettier-ignore
    },
    respiratory_rate: {
      dataPoints: samples.map(({ at }) => ({ respiratoryRateSleepSummary: { sampleTime: { physicalTime: time(at) } } })), // prettier-ignore
    },
  }),
  health_auto_export: (sleeps, samples, time) => ({
    export: {
      data: {
        metrics: [
          { name: 'sleep_analysis', data: sleeps.map(({ from, to, source }) => ({ startDate: time(from), endDate: time(to), value: 'Core', source })) }, // prettier-ignore
          { name: 'heart_rate', units: 'bpm', data: samples.map(({ at }) => ({ date: time(at), qty: 60 })) },
        ],
      },
    },
  }),
  apple_health: (sleeps, samples, time) => ({
    records: [
      ...sleeps.map(({ from, to, source }) => ({ type: 'HKCategoryTypeIdentifierSleepAnalysis', value: 3, startDate: time(from), endDate: time(to), sourceName: source })), // prettier-ignore
      ...samples.map(({ at }) => ({ type: 'HKQuantityTypeIdentifierHeartRate', unit: 'bpm', value: 60, startDate: time(at) })), // prettier-ignore
    ],
  }),
  withings: (sleeps, samples) => ({
    summary: {
      body: {
        series: sleeps.map(({ from, to, source }) => ({ startdate: from, enddate: to, timezone: 'Europe/Berlin', hash_deviceid: source, data: {} })), // prettier-ignore
      },
    },
    sleep: {
      body: { series: samples.map(({ at }) => ({ startdate: at, enddate: at + 60, state: 1, hr: { [at]: 60 } })) }, // prettier-ignore
    },
  }),
  polar: (sleeps, samples, time) => ({
    sleep: {
      nights: sleeps.map(({ from, to }) => ({ date: time(to).slice(0, 10), sleep_start_time: time(from), sleep_end_time: time(to), light_sleep: to - from })), // prettier-ignore
    },
    recharge: { recharges: samples.map(({ at }) => ({ date: time(at).slice(0, 10) })) },
    heart_rate: { heart_rates: samples.map(({ at }) => ({ date: time(at).slice(0, 10), heart_rate_samples: [{ sample_time: time(at).slice(11, 19), heart_rate: 60 }] })) }, // prettier-ignore
  }),
  fitbit_archive: (sleeps, samples, time) => ({
    sleep: sleeps.map(({ from, to, isMain }) => ({ startTime: time(from), endTime: time(to), mainSleep: isMain, minutesAsleep: (to - from) / 60 })), // prettier-ignore
    heart_rate: samples.map(({ at }) => ({
      dateTime: time(at).replace(/^..(..)-(..)-(..)T(.{8}).*$/, '$2/$3/$1 $4'),
      value: { bpm: 60 },
    })),
  }),
  health_connect: (sleeps, samples, time) => ({
    sleep: sleeps.map(({ from, to, source }) => ({ startTime: time(from), endTime: time(to), metadata: { dataOrigin: source } })), // prettier-ignore
    heart_rate: [{ samples: points(samples, time) }],
  }),
  garmin: (sleeps, samples) => ({
    sleep: sleeps.map(({ from, to }) => ({ startTimeInSeconds: from, durationInSeconds: to - from })),
    daily: samples.map(({ at }) => ({ startTimeInSeconds: at, timeOffsetHeartRateSamples: { 0: 60 } })),
  }),
  garmin_connect: (sleeps, samples) => ({
    sleep: sleeps.map(({ from, to }) => ({
      dailySleepDTO: { sleepStartTimestampGMT: from * 1000, sleepEndTimestampGMT: to * 1000, sleepTimeSeconds: to - from }, // prettier-ignore
    })),
    heart_rate: { heartRateValues: samples.map(({ at }) => [at * 1000, 60]) },
  }),
  intervals: (sleeps, samples, time) => ({
    stages: sleeps.map(({ from, to }) => ({ stage: 'light', from: time(from), to: time(to) })),
    heart_rate: samples.map(({ at }) => ({ at: time(at), value: 60 })),
  }),
};
