import t from 'tap';
import type { Intervention } from '#training/cohort/intervention.js';
import { meanLast, scoreOf, simulate } from './weeks.js';

const PEOPLE = 40;
const OUTPUTS = ['attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'] as const;
type Change = Record<(typeof OUTPUTS)[number], number>;

async function change(
  days: number,
  from: (day: number) => Intervention,
  to: (day: number) => Intervention,
): Promise<Change> {
  const before = await meanLast(simulate(PEOPLE, { days, intervene: from }));
  const after = await meanLast(simulate(PEOPLE, { days, intervene: to }));
  const entries = OUTPUTS.map((name) => [name, scoreOf(after, name) - scoreOf(before, name)]);
  return Object.fromEntries(entries) as Change;
}

const onLastDay = (days: number, intervention: Intervention) => (day: number) =>
  day === days - 1 ? intervention : {};
const asUsual = (): Intervention => ({});

t.test(
  'five nights of 4 h against 8 h lower attention by 8 to 25, memory less, reasoning least',
  async (t) => {
    const short = await change(
      10,
      (day) => (day >= 5 ? { inBedH: 8 } : {}),
      (day) => (day >= 5 ? { inBedH: 4 } : {}),
    );
    t.ok(short.attention <= -8 && short.attention >= -25, `attention ${short.attention.toFixed(1)}`);
    t.ok(short.attention < short.memory, `memory ${short.memory.toFixed(1)}`);
    t.ok(short.memory < short.reasoning, `reasoning ${short.reasoning.toFixed(1)}`);
    t.ok(short.reasoning < 0);
    t.ok(short.stress > 0);
  },
);

t.test('half an hour awake at night: less attention, more stress', async (t) => {
  const awake = await change(6, asUsual, onLastDay(6, { addAwakeH: 0.5 }));
  t.ok(awake.attention < 0);
  t.ok(awake.stress > 0);
});

t.test('breathing three a minute faster, as in fever: more stress, less pleasant', async (t) => {
  const fever = await change(6, asUsual, onLastDay(6, { addRr: 3 }));
  t.ok(fever.stress > 1);
  t.ok(fever.valence < 0);
});

t.test('heart rate up by five: more stress and arousal, next to nothing for valence', async (t) => {
  const heart = await change(6, asUsual, onLastDay(6, { addDayHr: 5, addNightHr: 5 }));
  t.ok(heart.stress > 1);
  t.ok(heart.arousal > 0);
  t.ok(Math.abs(heart.valence) < 0.02);
});
