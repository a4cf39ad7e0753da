import { parseArgs } from 'node:util';
import { UsageError } from '#bench/usage.js';

export const SECTIONS = ['peers', 'stages', 'knee', 'knobs', 'curves'] as const;
export type SectionName = (typeof SECTIONS)[number];

export interface ReportOptions {
  readonly only: readonly SectionName[];
  readonly seconds: number;
  readonly repetitions: number;
  /** A revision that is built and measured beside this tree. */
  readonly compare: string | undefined;
  /** Whether docs/PERFORMANCE.md and docs/images are rewritten. */
  readonly writesDocs: boolean;
  readonly folder: string | undefined;
}

export const USAGE = `npm run bench [-- options]

  --only A,B        of ${SECTIONS.join(', ')} (default all)
  --seconds N       length of one measurement (default 1)
  --repetitions N   rounds of the interleaving (default 3), one fewer for the curves
  --compare REV     builds that revision and measures it beside this tree, instead of the report
  --docs            also rewrites the figures of docs/PERFORMANCE.md and docs/images
  --out FOLDER      where page, charts and JSON go (default results/TIME)`;

/** @throws UsageError */
export function readOptions(args: readonly string[]): ReportOptions {
  const values = parse(args);
  const repetitions = positive('repetitions', values.repetitions ?? '3');
  if (!Number.isInteger(repetitions)) throw new UsageError('--repetitions wants a whole number');
  if (values.docs === true && values.compare !== undefined)
    throw new UsageError('--docs or --compare, not both');
  return {
    only: values.only?.split(',').map(sectionOf) ?? SECTIONS,
    seconds: positive('seconds', values.seconds ?? '1'),
    repetitions,
    compare: values.compare,
    writesDocs: values.docs ?? false,
    folder: values.out,
  };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: text,
        seconds: text,
        repetitions: text,
        compare: text,
        docs: { type: 'boolean' },
        out: text,
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function sectionOf(name: string): SectionName {
  const section = SECTIONS.find((known) => known === name);
  if (section === undefined) throw new UsageError(`no section is called ${name}`);
  return section;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 3600) return value;
  throw new UsageError(`--${name} wants a number above 0`);
}
