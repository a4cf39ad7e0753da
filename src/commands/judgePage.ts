import { grouped } from '../base/table.js';
import { ALPHA, POWER, type OutcomeVerdict } from '../judge/judge.js';
import { intervalOf, type Drawn } from '../judge/estimates.js';
import { EXPECTED } from '../judge/expected.js';
import { WAYS, type Purchase } from '../judge/measured.js';
import {
  aboutLine,
  boughtTable,
  gainLines,
  powerTable,
  reliabilityLine,
  rivalTable,
  leftOutLines,
  type Report,
} from '../judge/report.js';
import { PREDICTORS, VIEWS, type View } from '../judge/sums.js';
import {
  FINDING_WORDS,
  PREDICTOR_WORDS,
  VIEW_WORDS,
  WAY_WORDS,
  fixed,
  roughly,
  sentenceOf,
  withInterval,
} from '../judge/words.js';
import { escapeHtml, htmlTable, pageOf, type Tone } from '../base/page.js';

const STYLE = `
.forests{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:.4rem 2.4rem}
.forest{margin:.6rem 0}.forest figcaption{font-weight:600}.forest .found{font-weight:400;color:var(--muted)}
.line{display:grid;grid-template-columns:9.5rem 1fr 3rem;gap:.6rem;align-items:center;font-size:.85rem;font-variant-numeric:tabular-nums;line-height:1.7}
.line.own-part{font-weight:600}
.line b{font-weight:inherit;text-align:right}
.axis{position:relative;height:1.1rem;border-bottom:1px solid var(--grid)}
.axis i{position:absolute;top:0;bottom:0}
.axis .zero{width:1px;background:var(--muted)}
.axis .card{width:0;border-left:2px dotted var(--muted)}
.axis .span{top:.5rem;bottom:auto;height:2px;background:var(--muted)}
.axis .dot{top:.26rem;bottom:auto;width:.5rem;height:.5rem;margin-left:-.25rem;border-radius:50%;background:var(--muted)}
.own-part .span,.own-part .dot{background:var(--one)}
.scale{display:flex;justify-content:space-between;color:var(--muted);font-size:.75rem;margin:0 3.6rem 0 10.1rem}
.power .line{grid-template-columns:16rem 1fr 8rem}
.track{position:relative;height:.8rem;background:var(--grid);border-radius:2px}
.track span{position:absolute;inset:0 auto 0 0;background:var(--muted);border-radius:2px;max-width:100%}.power .track span,.own-part .track span{background:var(--one)}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--muted)}
@media(max-width:40rem){.forests{grid-template-columns:1fr}.line{grid-template-columns:7.2rem 1fr 2.6rem;font-size:.78rem}.scale{margin:0 3.2rem 0 7.8rem}.power .line{grid-template-columns:7.2rem 1fr 6rem}}
`;

const HOW_TO_READ = `Rank correlations with ${100 - 100 * ALPHA} % intervals over people; right is as foretold. Beside rivals: what the score still says once minutes asleep, heart rate and the own last outcomes are known. Dotted: what the card lets expect. A coin shows what chance gives.`;

/** The page of `acuity judge`: counts and statistics, nothing of a single person or night. */
export function judgePage(report: Report): string {
  const { verdicts } = report;
  const findings = verdicts.flatMap(({ views }) => VIEWS.map((view) => views[view].finding));
  const tone: { tone?: Tone } = findings.includes('adds')
    ? { tone: 'good' }
    : findings.every((finding) => finding === 'too-few')
      ? {}
      : { tone: 'bad' };
  return pageOf({
    title: 'acuity judge',
    style: STYLE,
    lead: { text: sentenceOf(verdicts), ...tone },
    subtitle: [aboutLine(report), ...leftOutLines(report)].join('. '),
    sections: [
      {
        heading: 'What these people could show',
        note: `A bar is full with as many people as it takes to find an effect of the card's size ${100 * POWER} times in 100, if there is one. Where it is not full, nothing is concluded. The card's sizes come from simulated people.`,
        html: `${powerBars(verdicts)}<details><summary>Figures</summary>${htmlTable(powerTable(verdicts))}</details>`,
      },
      ...verdicts.map((verdict, index) => ({
        ...(index === 0 ? { note: HOW_TO_READ } : {}),
        heading: `${verdict.outcome.column} with ${verdict.outcome.sign === 1 ? 'more' : 'less'} ${verdict.outcome.score}`,
        html: `<div class="forests">${VIEWS.map((view) => forest(verdict, view)).join('')}</div>${gainLines(
          verdict,
        )
          .map((line) => `<p>${escapeHtml(line)}</p>`)
          .join('')}<details><summary>Figures</summary>${htmlTable(rivalTable(verdict))}</details>`,
      })),
      ...report.bought.map((bought) => ({
        heading: `${bought.outcome.column} as measurements of ${bought.outcome.score}`,
        note: `Mean error in points on the nights after one, two, five tests. The service moves the score by the tests (“score and tests”). The shorter bar is the better one.`,
        html: `<div class="forests">${bought.verdict.purchases.map(errorBars).join('')}</div><p>${escapeHtml(reliabilityLine(bought))}</p><details><summary>Figures</summary>${htmlTable(boughtTable(bought))}</details>`,
      })),
    ],
  });
}

function powerBars(verdicts: readonly OutcomeVerdict[]): string {
  const rows = verdicts.flatMap(({ people, outcome, views }) =>
    VIEWS.map((view) => {
      const { peopleNeeded } = views[view];
      const name = `${outcome.column}, ${VIEW_WORDS[view]}`;
      return bar(name, Math.min(1, people / peopleNeeded), `${grouped(people)} of ${roughly(peopleNeeded)}`);
    }),
  );
  return `<div class="power">${rows.join('')}</div>`;
}

/** The mean errors of one number of tests as bars. */
function errorBars({ tests, nights, errors, gain }: Purchase): string {
  const largest = Math.max(...WAYS.map((way) => errors[way].value));
  const rows = WAYS.map((way) => {
    const { value } = errors[way];
    return bar(WAY_WORDS[way], value / largest, fixed(value, 1), way === 'measured');
  });
  return `<figure class="forest"><figcaption>${tests === 1 ? 'one test' : `${tests} tests`} <span class="found">· ${grouped(nights)} nights, gain on the score ${withInterval(gain, 1)}</span></figcaption>${rows.join('')}</figure>`;
}

function bar(name: string, share: number, text: string, isOwn = false): string {
  return `<div class="line${isOwn ? ' own-part' : ''}"><span>${escapeHtml(name)}</span><span class="track"><span style="width:${(100 * share).toFixed(1)}%"></span></span><b>${escapeHtml(text)}</b></div>`;
}

/** The end of the scale on both sides, the same for both views. */
function scaleOf({ estimates }: OutcomeVerdict): number {
  const drawn = VIEWS.flatMap((view) => [
    ...Object.values(estimates.views[view].goes),
    estimates.views[view].adds,
  ]);
  const ends = drawn.flatMap((one) => [...intervalOf(one, ALPHA)].map(Math.abs)).filter(Number.isFinite);
  return Math.min(1, Math.max(0.2, Math.ceil(10 * Math.max(0, ...ends)) / 10));
}

/** Each correlation as a dot with its interval, on one scale. */
function forest(verdict: OutcomeVerdict, view: View): string {
  const { goes, adds } = verdict.estimates.views[view];
  const lines: (readonly [name: string, drawn: Drawn, isOwn: boolean])[] = [
    [`${verdict.outcome.score}`, goes.score, true],
    ['… beside rivals', adds, true],
    ...PREDICTORS.filter((predictor) => predictor !== 'score').map(
      (predictor) => [PREDICTOR_WORDS[predictor], goes[predictor], false] as const,
    ),
  ];
  const most = scaleOf(verdict);
  const at = (value: number): string =>
    (50 + (50 * Math.max(-most, Math.min(most, value))) / most).toFixed(2);
  const card = EXPECTED[verdict.outcome.score][view];
  const rows = lines.map(([name, drawn, isOwn], index) => {
    const [low, high] = intervalOf(drawn, ALPHA);
    const expected = index === 0 ? card.goes : index === 1 ? card.adds : undefined;
    const marks = [
      '<i class="zero" style="left:50%"></i>',
      expected === undefined ? '' : `<i class="card" style="left:${at(expected)}%"></i>`,
      Number.isFinite(low)
        ? `<i class="span" style="left:${at(low)}%;right:${(100 - Number(at(high))).toFixed(2)}%"></i>`
        : '',
      Number.isFinite(drawn.value) ? `<i class="dot" style="left:${at(drawn.value)}%"></i>` : '',
    ];
    return `<div class="line${isOwn ? ' own-part' : ''}"><span>${escapeHtml(name)}</span><span class="axis">${marks.join('')}</span><b>${fixed(drawn.value, 2)}</b></div>`;
  });
  const scale = [-most, 0, most].map((value) => `<span>${fixed(value, 1)}</span>`);
  return `<figure class="forest"><figcaption>${VIEW_WORDS[view]} <span class="found">· ${FINDING_WORDS[verdict.views[view].finding]}</span></figcaption>${rows.join('')}<div class="scale">${scale.join('')}</div></figure>`;
}
