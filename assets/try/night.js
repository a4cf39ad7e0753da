/**
 * What the sliders say, and the request that comes of it.
 *
 * @typedef {object} Night  times of day in minutes after the noon before; `deep`, `rem` and `awake` in percent of the
 * time in bed, whose rest is light sleep
 */
const DAY_MIN = 1440;

/** One slider each. `show`: its value in words. */
export const SLIDERS = {
  bed: { group: 'night', label: 'In bed at', min: 480, max: 900, step: 15, show: timeOfDay },
  wake: { group: 'night', label: 'Awake at', min: 960, max: 1440, step: 15, show: timeOfDay },
  deep: { group: 'stages', label: 'Deep sleep', min: 0, max: 35, step: 1, show: lengthOf('deep') },
  rem: { group: 'stages', label: 'REM sleep', min: 0, max: 35, step: 1, show: lengthOf('rem') },
  awake: { group: 'stages', label: 'Awake', min: 0, max: 30, step: 1, show: lengthOf('awake') },
  nightHeart: { group: 'asleep', label: 'Heart rate', min: 40, max: 100, step: 1, show: unit('bpm') },
  nightBreath: { group: 'asleep', label: 'Breathing', min: 9, max: 26, step: 0.5, show: unit('/min') },
  dayHeart: { group: 'hour', label: 'Heart rate', min: 45, max: 125, step: 1, show: unit('bpm') },
  dayBreath: { group: 'hour', label: 'Breathing', min: 9, max: 28, step: 0.5, show: unit('/min') },
  age: { group: 'person', label: 'Age', min: 18, max: 90, step: 1, show: unit('years') },
  height: { group: 'person', label: 'Height', min: 140, max: 210, step: 1, show: unit('cm') },
  weight: { group: 'person', label: 'Weight', min: 40, max: 160, step: 1, show: unit('kg') },
};

const PERSON = { age: 34, height: 168, weight: 64, sex: 'F' };
const ORDINARY = {
  bed: 675,
  wake: 1140,
  deep: 17,
  rem: 21,
  awake: 5,
  nightHeart: 58,
  nightBreath: 14.5,
  dayHeart: 71,
  dayBreath: 15.5,
};

/** Nights; the person stays who they are. */
export const EXAMPLES = {
  'Ordinary night': ORDINARY,
  'Short night': {
    ...ORDINARY,
    bed: 840,
    wake: 1065,
    deep: 18,
    rem: 14,
    awake: 12,
    nightHeart: 66,
    nightBreath: 15,
    dayHeart: 84,
    dayBreath: 16.5,
  },
  Fever: {
    ...ORDINARY,
    deep: 9,
    rem: 14,
    awake: 15,
    nightHeart: 78,
    nightBreath: 18.5,
    dayHeart: 96,
    dayBreath: 19.5,
  },
};

export const FIRST = { ...PERSON, ...ORDINARY };

/** The fields of a session that are the person's. */
export function personOf({ age, height, weight, sex }) {
  return { age, height_cm: height, weight_kg: weight, sex };
}

/** In minutes, each stage whole. */
export function minutesOf({ bed, wake, ...night }) {
  const [deep, rem, awake] = [night.deep, night.rem, night.awake].map((share) =>
    Math.round((share / 100) * (wake - bed)),
  );
  return { deep, rem, awake, light: wake - bed - deep - rem - awake };
}

/** One average stands for each series: a device would send its samples. */
export function requestOf(night, { history, date, measurements }) {
  const { deep, rem, light, awake } = minutesOf(night);
  const asleep = deep + rem + light;
  const share = (minutes) => (asleep === 0 ? 0 : Number((minutes / asleep).toFixed(3)));
  return {
    current_session: {
      HR_day_1h: [night.dayHeart],
      RR_day_1h: [night.dayBreath],
      HR_night: [night.nightHeart],
      RR_night: [night.nightBreath],
      sleepTimeSeconds: asleep * 60,
      deepSleepSeconds: deep * 60,
      remSleepSeconds: rem * 60,
      lightSleepSeconds: light * 60,
      awakeSleepSeconds: awake * 60,
      deepPercentage: share(deep),
      remPercentage: share(rem),
      lightPercentage: share(light),
      ...personOf(night),
    },
    history,
    night: date,
    ...(measurements.length === 0 ? {} : { measurements }),
    explain: true,
  };
}

function timeOfDay(minutes) {
  const ofDay = (minutes + DAY_MIN / 2) % DAY_MIN;
  return `${String(Math.floor(ofDay / 60)).padStart(2, '0')}:${String(ofDay % 60).padStart(2, '0')}`;
}

/** `1 h 20 min`. */
export function hours(minutes) {
  const whole = Math.floor(minutes / 60);
  if (whole === 0) return `${minutes} min`;
  return minutes % 60 === 0 ? `${whole} h` : `${whole} h ${minutes % 60} min`;
}

function lengthOf(stage) {
  return (_, night) => hours(minutesOf(night)[stage]);
}

function unit(name) {
  return (value) => `${value} ${name}`;
}
