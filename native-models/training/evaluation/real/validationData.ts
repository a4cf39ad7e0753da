import { demand, type Section } from '../section.js';

/** Names the folder with the open data; they are not part of the repository. */
const VARIABLE = 'VALIDATION_DATA';

/** What one set of real data shows. */
export type RealFinding = Pick<Section, 'demands' | 'tables' | 'decisive'>;

/** What the sets in the folder show, as parts of a section; sets that are not there are said to be missing. */
export async function compared(
  compare: (
    folder: string,
  ) => Promise<readonly { readonly name: string; readonly finding: RealFinding | undefined }[]>,
): Promise<RealFinding> {
  const folder = process.env[VARIABLE] ?? '';
  if (folder === '') {
    const skipped = demand('compare with open data', `skipped: ${VARIABLE} names no folder`, undefined);
    return { demands: [skipped], tables: [] };
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
    decisive: Object.assign({}, ...found.map(({ decisive }) => decisive)) as Record<string, number>,
  };
}
