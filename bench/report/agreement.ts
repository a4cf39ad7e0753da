import { readFile } from 'node:fs/promises';
import type { Spread } from '#acuity/base/statistics.js';
import { spreadText } from '#bench/comparison/goals.js';
import type { Figure, ReportSection } from './section.js';

/**
 * The figures of an earlier run's `report.json`.
 * @throws Error where the file is no report, or one that was not to be used
 */
export async function figuresIn(file: string): Promise<Figure[]> {
  const report = JSON.parse(await readFile(file, 'utf8')) as {
    readonly sections?: readonly Partial<ReportSection>[];
    readonly faults?: readonly string[];
  };
  if (report.sections === undefined) throw new Error(`${file} is no report of npm run bench`);
  if ((report.faults ?? []).length > 0) throw new Error(`${file} holds figures that are not to be used`);
  return report.sections.flatMap(({ figures = [] }) => figures);
}

/** What two runs say of the same things; figures that only one of them has are left out. */
export function agreementSection(
  earlier: readonly Figure[],
  sections: readonly ReportSection[],
): ReportSection {
  const byName = new Map(earlier.map((figure) => [figure.name, figure.spread]));
  const pairs = sections
    .flatMap(({ figures }) => figures)
    .flatMap(({ name, spread }) => {
      const before = byName.get(name);
      return before === undefined ? [] : [{ name, before, now: spread, agrees: overlap(before, spread) }];
    });
  const agreeing = pairs.filter(({ agrees }) => agrees).length;
  return {
    name: 'agreement',
    heading: `Beside an earlier run: ${agreeing} of ${pairs.length} figures agree`,
    note: 'Ratios, median (least–most) of the repetitions of each run. Two runs agree where these ranges overlap. Of two runs with three repetitions each that differ by nothing but chance, one figure in ten lies apart.',
    charts: [],
    tables: [
      [
        ['figure', 'earlier', 'now', ''],
        ...pairs.map(({ name, before, now, agrees }) => [
          name,
          spreadText(before, 2),
          spreadText(now, 2),
          agrees ? 'agrees' : 'apart',
        ]),
      ],
    ],
    figures: [],
    data: pairs,
  };
}

function overlap(a: Spread, b: Spread): boolean {
  return a.min <= b.max && b.min <= a.max;
}
