import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROOT } from './paths.js';
import type { BenchContext } from './report/context.js';
import { readOptions, type ReportOptions, type SectionName } from './report/options.js';
import type { Report } from './report/output.js';
import type { ReportSection } from './report/section.js';
import { issueKey } from './server/key.js';

import { compareSection } from './report/compareSection.js';
import { curvesSection } from './report/curvesSection.js';
import { kneeSection } from './report/kneeSection.js';
import { knobsSection } from './report/knobsSection.js';
import { machineLine, textOf, writeDocs, writeReport } from './report/output.js';
import { otherWork, otherWorkSentence } from './report/otherWork.js';
import { peersSection } from './report/peersSection.js';
import { stagesSection } from './report/stagesSection.js';

const MEASURE: Readonly<Record<SectionName, (context: BenchContext) => Promise<ReportSection>>> = {
  peers: peersSection,
  stages: stagesSection,
  knee: kneeSection,
  knobs: knobsSection,
  curves: curvesSection,
};

/** The report: progress on standard error, tables on output, page and charts into results/. @throws UsageError */
export async function runReport(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  const { seconds, repetitions } = options;
  const startMs = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'acuity-report-'));
  const say = (line: string): void => {
    const elapsedS = Math.round((performance.now() - startMs) / 1000);
    process.stderr.write(`${String(elapsedS).padStart(4)} s  ${line}\n`);
  };
  const faults: string[] = [];
  let report: Report;
  try {
    const context = { folder, key: await issueKey(folder), seconds, repetitions, say, faults };
    const before = await otherWork();
    const sections = await sectionsOf(context, options);
    const busy = otherWorkSentence(before, await otherWork());
    report = { subtitle: machineLine(seconds, repetitions), sections, faults, busy };
  } finally {
    await rm(folder, { recursive: true });
  }
  process.stdout.write(`${textOf(report)}\n`);
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const page = await writeReport(
    report,
    options.folder === undefined ? join(ROOT, 'results', time) : resolve(options.folder),
  );
  say(`wrote ${page}`);
  if (options.writesDocs) await writeDocs(report);
  if (faults.length > 0) process.exitCode = 1;
}

async function sectionsOf(context: BenchContext, { only, compare }: ReportOptions): Promise<ReportSection[]> {
  if (compare !== undefined) return [await compareSection(context, compare)];
  const sections: ReportSection[] = [];
  for (const [index, name] of only.entries()) {
    context.say(`— ${name} (${index + 1} of ${only.length})`);
    sections.push(await MEASURE[name](context));
  }
  return sections;
}
