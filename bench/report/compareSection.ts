import { PAYLOADS } from '#acuity/load/payloads.js';
import { ratioOf } from '#bench/comparison/goals.js';
import { seriesOf } from '#bench/comparison/series.js';
import { acuity, type Peer } from '#bench/peers/catalogue.js';
import { barOf } from './chart.js';
import type { BenchContext } from './context.js';
import { interleaved, peerTable } from './peersSection.js';
import { buildRevision } from './revision.js';
import type { ReportSection } from './section.js';

/** Another revision (base) and this tree (change), in turn. */
export async function compareSection(context: BenchContext, revision: string): Promise<ReportSection> {
  context.say(`building ${revision}`);
  const base = await buildRevision(revision, context.folder);
  try {
    const change: Peer = { ...acuity(1), name: 'change', what: 'the service as it stands in this tree' };
    const results = await interleaved(context, [base.peer, change]);
    const verdicts = PAYLOADS.map((payload) => {
      const of = (peer: string) => seriesOf(results, { peer, payload, mode: 'saturation', connections: 64 });
      const ratio = ratioOf(of('change'), of('base'), ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest);
      return [payload, ratio === undefined ? 'not measured' : verdictOf(ratio)];
    });
    return {
      name: 'compare',
      heading: `base (${base.commit.slice(0, 10)}) against change (this tree)`,
      note: ['Interleaved; ratios within a repetition.', ...base.remarks].join(' '),
      charts: [
        {
          name: 'compare-cpu',
          title: 'Processor time per request',
          kind: 'bars',
          x: '',
          y: 'µs',
          series: PAYLOADS.map((payload) => ({
            name: payload,
            points: ['base', 'change'].map((peer) => {
              const series = seriesOf(results, { peer, payload, mode: 'saturation', connections: 64 });
              return barOf(
                peer,
                series.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest),
              );
            }),
          })),
        },
      ],
      tables: [
        ...PAYLOADS.map((payload) => peerTable(payload, results, 'base')),
        [['payload', 'processor time of change'], ...verdicts],
      ],
      data: { ...base, peer: base.peer.name, results },
    };
  } finally {
    await base.remove();
  }
}

/** Only what every repetition agrees on is said to be a difference. */
export function verdictOf({ min, max }: { readonly min: number; readonly max: number }): string {
  if (max < 1) return 'less, in every repetition';
  if (min > 1) return 'more, in every repetition';
  return 'no difference beyond the spread';
}
