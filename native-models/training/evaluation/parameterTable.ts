import { writeFileSync } from 'node:fs';
import { TABLE, type Parameter } from '../cohort/parameters.js';
import { HALF_LIFE, RELIABILITY } from '../measured.js';
import { markdown } from './markdown.js';

/** Writes the table of the cohort's parameters for readers; its source is `cohort/parameters.ts`. */
export function writeParameterTable(path: string): void {
  const of = (parameters: Readonly<Record<string, Parameter>>): string =>
    markdown({
      caption: '',
      header: ['parameter', 'value', 'unit', 'source', 'meaning'],
      rows: Object.entries(parameters).map(([name, { value, unit, source, meaning }]) => [
        `\`${name}\``,
        String(value),
        unit,
        source,
        meaning,
      ]),
    });
  const introduction =
    'Generated from `parameters.ts` by `npm run model:evaluate`. Sources are listed in [sources.md](sources.md).';
  const measured = [
    '## Measurements',
    'Not of the cohort: what the manifest says of measurements, from `measured.ts`.',
    'Reliability of a measurement that comes without one:',
    of(RELIABILITY),
    'Half-lives:',
    of(HALF_LIFE),
  ];
  writeFileSync(
    path,
    `${['# Parameters of the cohort', introduction, of(TABLE), ...measured].join('\n\n')}\n`,
  );
}
