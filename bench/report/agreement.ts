import { readFile } from 'node:fs/promises';
import { spreadOf, type Spread } from '#acuity/load/statistics.js';
import { spreadText } from '#bench/comparison/goals.js';
import { expectationsOf, type Expectation } from './expectation.js';
import type { ReportSection } from './section.js';

/**
 * What an earlier run, by its `report.json`, expects of this one.
 * @throws Error where the file is no report, or one that was not to be used
 */
export async function expectationsIn(file: string): Promise<Expectation[]> {
  const report = JSON.parse(await readFile(file, 'utf8')) as {
    readonly sections?: readonly Partial<ReportSection>[];
    readonly faults?: readonly string[];
  };
  if (report.sections === undefined) throw new Error(`${file} is no report of npm run bench`);
  if ((report.faults ?? []).length > 0) throw new Error(`${file} holds figures that are not to be used`);
  return expectationsOf(report.sections.map(({ figures = [] }) => ({ figures })));
}

const NOTE =
  'Ratios, median (least–most) of the repetitions. Expected: where the median of another run lies, 99 times of 100, if chance alone tells them apart.';

/** What another run should find; undefined where this one can't tell. */
export function expectationSection(sections: readonly ReportSection[]): ReportSection | undefined {
  const expectations = expectationsOf(sections);
  if (expectations.length === 0) return undefined;
  return {
    name: 'expectation',
    heading: 'What another run should find',
    note: NOTE,
    charts: [],
    tables: [
      [
        ['figure', 'this run', 'expected'],
        ...expectations.map((expectation) => [
          expectation.name,
          valueText(expectation.spread),
          rangeText(expectation),
        ]),
      ],
    ],
    figures: [],
    data: expectations,
  };
}

/** Whether this run found what an `earlier` one expected; figures that only one of them has are left out. */
export function agreementSection(
  earlier: readonly Expectation[],
  sections: readonly ReportSection[],
): ReportSection {
  const byName = new Map(earlier.map((expectation) => [expectation.name, expectation]));
  const figures = sections.flatMap((section) => section.figures);
  const pairs = figures.flatMap(({ name, ratios }) => {
    const before = byName.get(name);
    if (before === undefined) return [];
    const now = spreadOf(ratios);
    return [{ name, before, now, agrees: before.low <= now.median && now.median <= before.high }];
  });
  const agreeing = pairs.filter(({ agrees }) => agrees).length;
  return {
    name: 'agreement',
    heading: `Beside an earlier run: ${agreeing} of ${pairs.length} figures agree`,
    note: NOTE,
    charts: [],
    tables: [
      [
        ['figure', 'earlier', 'expected', 'now', ''],
        ...pairs.map(({ name, before, now, agrees }) => [
          name,
          valueText(before.spread),
          rangeText(before),
          valueText(now),
          agrees ? 'agrees' : 'apart',
        ]),
      ],
    ],
    figures: [],
    data: pairs,
  };
}

function valueText(spread: Spread): string {
  return spreadText(spread, digitsOf(spread));
}

function rangeText({ spread, low, high }: Expectation): string {
  return `${low.toFixed(digitsOf(spread))}–${high.toFixed(digitsOf(spread))}`;
}

/** Small ratios want more of them. */
function digitsOf({ median }: Spread): number {
  return median < 1 ? 3 : 2;
}
