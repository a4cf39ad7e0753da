import { demand, type Section } from '../section.js';
import type { RealFinding } from './finding.js';

/** Names the folder with the open data; they are not part of the repository. */
const VARIABLE = 'VALIDATION_DATA';

export interface NamedFinding {
  readonly name: string;
  readonly finding: RealFinding | undefined;
}

/** What the sets in the folder show, as parts of a section; sets that are not there are said to be missing. */
export async function compared(
  compare: (folder: string) => Promise<readonly NamedFinding[]>,
): Promise<Pick<Section, 'demands' | 'tables' | 'figures' | 'decisive'>> {
  const folder = process.env[VARIABLE] ?? '';
  if (folder === '') {
    const skipped = demand('compare with open data', `skipped: ${VARIABLE} names no folder`, undefined);
    return { demands: [skipped], tables: [], figures: [] };
  }
  const named = await compare(folder);
  const found = named.flatMap(({ finding }) => finding ?? []);
  const missing = named.filter(({ finding }) => finding === undefined);
  return {
    demands: [
      ...found.flatMap(({ demands }) => demands),
      ...missing.map(({ name }) => demand(`${name}: compare`, 'its data are not in the folder', undefined)),
    ],
    tables: found.flatMap(({ tables }) => tables),
    figures: found.flatMap(({ figures }) => figures),
    decisive: Object.assign({}, ...found.map(({ decisive }) => decisive)) as Record<string, number>,
  };
}
