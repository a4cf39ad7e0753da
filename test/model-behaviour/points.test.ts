import t from 'tap';
import { World } from '#training/cohort/population.js';
import { devices } from '#training/evaluation/devices.js';
import { direction } from '#training/evaluation/direction.js';
import { edges } from '#training/evaluation/edges.js';
import type { Section } from '#training/evaluation/section.js';
import { units } from '#training/evaluation/units.js';
import { bundle, model } from './weeks.js';

/** Points of the evaluation with fewer people: what they demand is what holds. */
const judged = { world: new World(23), model, bundle };
const POINTS: readonly (() => Section | Promise<Section>)[] = [
  () => direction(judged, { people: 40, peopleOfAge: 12 }),
  () => devices(judged, 15),
  () => edges(judged, 20),
  // Real nights too, where VALIDATION_DATA names them.
  () => units(60),
];

for (const point of POINTS) {
  const { number, title, demands } = await point();
  t.test(`point ${number}: ${title}`, async (t) => {
    for (const { demand, found, holds } of demands) t.ok(holds, `${demand}: ${found}`);
  });
}
