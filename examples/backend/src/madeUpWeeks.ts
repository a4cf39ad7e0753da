/** Seven weeks of an invented person, as a provider sends them: a past and a month, to see the pages with data. */

const NIGHTS = 49;
const FIRST_MS = Date.parse('2026-01-12T00:00:00Z');
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const SAMPLE_MINUTES = 10;

interface Kind {
  readonly asleepMin?: number;
  readonly bpm?: number;
  readonly breaths?: number;
}

/** Some unusual nights: one of four hours, one without sleep, a fever, five short ones in a row. */
const ODD: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [26, { asleepMin: 240 }],
  [31, { asleepMin: 40 }],
  [36, { asleepMin: 400, bpm: 12, breaths: 3 }],
  [37, { asleepMin: 390, bpm: 9, breaths: 2 }],
  ...[43, 44, 45, 46, 47].map((night) => [night, { asleepMin: 250 }] as const),
]);

/** This person's reaction test before the last weeks, as the test page sends it. */
export const MADE_UP_TEST = {
  age: 26,
  sex: 'F',
  on: '2026-02-06',
  reactionsMs: Array.from({ length: 25 }, () => 243),
};

/** Bodies of webhooks, oldest first. */
export function madeUpWeeks(person: string): string[] {
  return Array.from({ length: NIGHTS }, (_, night) => JSON.stringify(eventOf(person, night)));
}

function eventOf(person: string, night: number): object {
  const {
    asleepMin = 445 + Math.round(35 * Math.sin(1.3 * night)),
    bpm = 0,
    breaths = 0,
  } = ODD.get(night) ?? {};
  const startMs = FIRST_MS + night * DAY_MS + 22 * 60 * MINUTE_MS;
  const awakeMin = 35 + Math.round(10 * Math.cos(night));
  const endMs = startMs + (asleepMin + awakeMin) * MINUTE_MS;
  const [deep, rem] = [Math.round(0.16 * asleepMin), Math.round(0.22 * asleepMin)];
  const times = Array.from(
    { length: Math.floor((endMs - startMs) / (SAMPLE_MINUTES * MINUTE_MS)) },
    (_, index) => new Date(startMs + index * SAMPLE_MINUTES * MINUTE_MS).toISOString(),
  );
  const level = 57 + bpm + Math.round(1.5 * Math.sin(1.7 * night));
  return {
    type: 'sleep',
    received_at: new Date(endMs + 20 * MINUTE_MS).toISOString(),
    user: { user_id: '00000000-0000-4000-8000-000000000004', provider: 'GARMIN', reference_id: person },
    data: [
      {
        metadata: {
          start_time: local(startMs),
          end_time: local(endMs),
          is_nap: false,
          upload_type: 2,
        },
        sleep_durations_data: {
          asleep: {
            duration_asleep_state_seconds: 60 * asleepMin,
            duration_deep_sleep_state_seconds: 60 * deep,
            duration_light_sleep_state_seconds: 60 * (asleepMin - deep - rem),
            duration_REM_sleep_state_seconds: 60 * rem,
          },
          awake: { duration_awake_state_seconds: 60 * awakeMin },
        },
        heart_rate_data: {
          detailed: {
            hr_samples: times.map((timestamp, index) => ({ timestamp, bpm: level + (index % 3) - 1 })),
          },
        },
        respiration_data: {
          breaths_data: {
            samples: times.map((timestamp, index) => ({
              timestamp,
              breaths_per_min: 14.5 + breaths + (index % 2) / 5,
            })),
          },
        },
      },
    ],
  };
}

/** In ISO 8601, as it is in Berlin in winter. */
function local(ms: number): string {
  return new Date(ms + 60 * MINUTE_MS).toISOString().replace('Z', '+01:00');
}
