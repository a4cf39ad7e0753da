/**
 * What the sliders say, and the request that comes of it.
 *
 * @typedef {object} Night  times of day in minutes after the noon before; `stages` are shares of the time in bed
 */
import { DAY_MIN } from './stages.js';

/** One slider each. `show`: its value in words. */
export const SLIDERS = {
  bed: { group: 'night', label: 'In bed at', min: 480, max: 900, step: 15, show: timeOfDay },
  wake: { group: 'night', label: 'Awake at', min: 960, max: 1440, step: 15, show: timeOfDay },
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
  stages: [0.17, 0.21, 0.57, 0.05],
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
    bed: 825,
    wake: 1080,
    stages: [0.18, 0.14, 0.56, 0.12],
    nightHeart: 64,
    nightBreath: 15,
    dayHeart: 78,
    dayBreath: 16,
  },
  Fever: {
    ...ORDINARY,
    stages: [0.09, 0.14, 0.62, 0.15],
    nightHeart: 78,
    nightBreath: 18.5,
    dayHeart: 96,
    dayBreath: 19.5,
  },
};

export const FIRST = { ...PERSON, ...ORDINARY };

export const isOfPerson = (name) => name in PERSON;

/** The fields of a session that are the person's. */
export function personOf({ age, height, weight, sex }) {
  return { age, height_cm: height, weight_kg: weight, sex };
}

/** In minutes, each stage whole. */
export function minutesOf({ bed, wake, stages }) {
  const [deep, rem, light] = stages.map((share) => Math.round(share * (wake - bed)));
  return { deep, rem, light, awake: Math.max(0, wake - bed - deep - rem - light) };
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

function unit(name) {
  return (value) => `${value} ${name}`;
}
