import { writeFileSync } from 'node:fs';
import { TABLE } from '../cohort/parameters.js';
import { markdown } from './markdown.js';

/** Writes the table of the cohort's parameters for readers; its source is `cohort/parameters.ts`. */
export function writeParameterTable(path: string): void {
  const rows = Object.entries(TABLE).map(([name, { value, unit, source, meaning }]) => [
    `\`${name}\``,
    String(value),
    unit,
    source,
    meaning,
  ]);
  const table = markdown({ caption: '', header: ['parameter', 'value', 'unit', 'source', 'meaning'], rows });
  const introduction =
    'Generated from `parameters.ts` by `npm run model:evaluate`. Sources are listed in [sources.md](sources.md).';
  writeFileSync(path, `# Parameters of the cohort\n\n${introduction}\n\n${table}\n`);
}
