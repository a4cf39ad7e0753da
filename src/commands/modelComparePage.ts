import type { Differences, ScoreDifference } from '../admin/differences.js';
import { escapeHtml } from '../base/html.js';
import { htmlTable, pageOf } from '../tune/page.js';

/** The result of `acuity model compare`. */
export interface ComparedModels {
  readonly answering: string;
  readonly other: string;
  readonly requests: string;
  /** Lines that are not valid requests. */
  readonly refused: number;
  readonly differences: Differences;
}

/** `acuity model compare` as a page, with nothing about a single request. */
export function comparisonPage({ answering, other, requests, refused, differences }: ComparedModels): string {
  const { compared, errors, scores, flips, run } = differences;
  const farthest = Math.max(...scores.map(({ mean }) => mean));
  return pageOf({
    title: 'acuity model compare',
    lead: {
      text: `${other} lies ${farthest.toFixed(2)} points from ${answering} on average, in the score where they are farthest apart.`,
      ...(errors === 0 ? {} : { tone: 'bad' }),
    },
    subtitle: `${requests}: ${compared} requests compared; lines that are no valid requests: ${refused}; requests without sound scores: ${errors}`,
    sections: [
      {
        heading: 'Scores',
        note: `Differences in points, ${other} less ${answering} where they have a sign. Synthetic networks: none of it says which one is right.`,
        html: htmlTable([
          ['score', 'mean', 'with its sign', 'half within', '99 % within'],
          ...scores.map(cellsOf),
        ]),
      },
      {
        heading: 'Labels',
        note: 'Requests whose label turns from High to Low or back.',
        html: htmlTable([
          ['label', 'turned', 'of requests'],
          ...flips.map(({ label, count }) => [label, String(count), percent(count, compared)]),
        ]),
      },
      {
        heading: 'How the differences lie',
        note: 'Requests by the size of their difference, in points.',
        html: `<div class="charts">${scores.map((score) => histogramOf(score, compared)).join('')}</div>`,
      },
      {
        heading: 'Time',
        note: 'The model run that held a request, in batches as they came; this machine, nothing else tuned.',
        html: htmlTable([
          ['model', 'mean ms', 'p99 ms'],
          [other, String(run.meanMs), String(run.p99Ms)],
        ]),
      },
    ],
  });
}

function histogramOf({ score, histogram }: ScoreDifference, compared: number): string {
  const most = Math.max(...histogram.map(({ count }) => count), 1);
  const rows = histogram.map(({ below, count }, index) => {
    const width = (count / most) * 9;
    const bar = `<span class="bar" style="width:${width.toFixed(2)}rem"></span>`;
    const name = below === Infinity ? `above ${histogram[index - 1]?.below ?? 0}` : `to ${below}`;
    return `<tr><td>${name}</td><td>${percent(count, compared)}</td><td style="text-align:left">${bar}</td></tr>`;
  });
  return `<figure><figcaption>${escapeHtml(score)}</figcaption><div class="wide"><table><tr><th>points</th><th>requests</th><th></th></tr>${rows.join('')}</table></div></figure>`;
}

function percent(count: number, all: number): string {
  return all === 0 ? '–' : `${((count / all) * 100).toFixed(1)} %`;
}

/**
 * How far a score differs, as a table row: its name, the mean, the signed mean, the median and the 99th percentile.
 */
export function cellsOf({ score, mean, meanSigned, p50, p99 }: ScoreDifference): string[] {
  const sign = meanSigned > 0 ? '+' : '';
  return [score, mean.toFixed(3), sign + meanSigned.toFixed(3), p50.toFixed(2), p99.toFixed(2)];
}
