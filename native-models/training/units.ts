import { markdownTable } from '#acuity/base/table.js';
import { World } from './cohort/population.js';
import {
  realNights,
  simulatedNights,
  tellLifesnaps,
  tellNights,
  type Told,
} from './evaluation/wordedNights.js';

/** `npm run units`: real and simulated nights in seconds and in wrong units, and what the service refuses of them. */
const SEED = 37;
const PEOPLE = 300;
const DAYS = 6;

const folder = process.env['VALIDATION_DATA'] ?? '';
const real = folder === '' ? new Map() : realNights(folder);
for (const [set, nights] of real)
  if (nights === undefined) console.error(`${set}: its data are not in VALIDATION_DATA`);
if (folder === '') console.error('VALIDATION_DATA names no folder with real nights: simulated ones only');
const sets = new Map([...real, ['simulated', simulatedNights(new World(SEED), PEOPLE, DAYS)]]);
const lifesnaps = folder === '' ? undefined : tellLifesnaps(folder);
const told = [...(lifesnaps === undefined ? [] : [lifesnaps]), ...tellNights(sets)];

console.log(
  markdownTable([['night', 'told in', 'requests', 'scored', 'refused'], ...told.filter(isTold).map(row)]),
);
const right = told.filter(({ isRight }) => isRight);
const wrong = told.filter(({ isRight }) => !isRight);
console.log(
  `\nright: ${sum(right, 'refused')} of ${sum(right, 'requests')} refused; in another unit: ${sum(wrong, 'refused')} of ${sum(wrong, 'requests')} refused`,
);

function isTold({ requests }: Told): boolean {
  return requests > 0;
}

function row({ set, wording, isRight, requests, refused }: Told): string[] {
  const counts = [requests, requests - refused, refused].map(String);
  return [set, isRight ? wording : `**${wording}**`, ...counts];
}

function sum(rows: readonly Told[], name: 'requests' | 'refused'): number {
  return rows.reduce((total, one) => total + one[name], 0);
}
