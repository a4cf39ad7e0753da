/** `npm run bench`: the report. Progress on standard error, tables on output, page and charts into results/. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROOT } from './paths.js';
import type { BenchContext } from './report/context.js';
import { readOptions, USAGE, UsageError, type ReportOptions, type SectionName } from './report/options.js';
import type { Report } from './report/output.js';
import type { ReportSection } from './report/section.js';
import { issueKey } from './server/key.js';

const EXIT_USAGE = 64;

// Before ONNX Runtime loads: it reports usage to its vendor unless told not to.
process.env['ORT_DISABLE_TELEMETRY'] = '1';
const { agreementSection, expectationSection, expectationsIn } = await import('./report/agreement.js');
const { compareSection } = await import('./report/compareSection.js');
const { curvesSection } = await import('./report/curvesSection.js');
const { kneeSection } = await import('./report/kneeSection.js');
const { knobsSection } = await import('./report/knobsSection.js');
const { machineLine, textOf, writeDocs, writeReport } = await import('./report/output.js');
const { peersSection } = await import('./report/peersSection.js');
const { stagesSection } = await import('./report/stagesSection.js');

const MEASURE: Readonly<Record<SectionName, (context: BenchContext) => Promise<ReportSection>>> = {
  peers: peersSection,
  stages: stagesSection,
  knee: kneeSection,
  knobs: knobsSection,
  curves: curvesSection,
};

// The servers are ended by an exit handler, which a signal alone would not run.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

if (process.argv.includes('--help')) process.stdout.write(`${USAGE}\n`);
else await main(optionsOrExit(process.argv.slice(2)));

async function main(options: ReportOptions): Promise<void> {
  const { seconds, repetitions } = options;
  const startMs = performance.now();
  const earlier = options.against === undefined ? undefined : await expectationsIn(options.against);
  const folder = await mkdtemp(join(tmpdir(), 'acuity-report-'));
  const say = (line: string): void => {
    const elapsedS = Math.round((performance.now() - startMs) / 1000);
    process.stderr.write(`${String(elapsedS).padStart(4)} s  ${line}\n`);
  };
  const faults: string[] = [];
  let report: Report;
  try {
    const context = { folder, key: await issueKey(folder), seconds, repetitions, say, faults };
    const sections = await sectionsOf(context, options);
    const last = earlier === undefined ? expectationSection(sections) : agreementSection(earlier, sections);
    if (last !== undefined) sections.push(last);
    report = { subtitle: machineLine(seconds, repetitions), sections, faults };
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

function optionsOrExit(args: readonly string[]): ReportOptions {
  try {
    return readOptions(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}\n`);
    process.exit(EXIT_USAGE);
  }
}
