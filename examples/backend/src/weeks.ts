import { escaped } from './document.js';
import type { Night, Taken } from './store.js';

export type Score = 'C_SCORE' | 'attention' | 'memory' | 'reasoning' | 'stress';

export const SCORES: readonly (readonly [Score, string])[] = [
  ['C_SCORE', 'Overall'],
  ['attention', 'Attention'],
  ['memory', 'Memory'],
  ['reasoning', 'Reasoning'],
  ['stress', 'Stress'],
];

/** What is usual on a day is said by so many nights before it. */
export const USUAL_NIGHTS = 30;
const USUAL_LEAST = 10;
/** Eight in ten of them lie within the band. */
const BAND = [0.1, 0.9] as const;
const WIDTH = 340;
const HEIGHT = 170;
const LEFT = 30;
const RIGHT = WIDTH - 8;
const TOP = 8;
const BOTTOM = HEIGHT - 22;
const DAY_MS = 86_400_000;

/** The nights of the page, with those before them that say what was usual; what was measured. */
export interface Course {
  readonly nights: readonly Night[];
  readonly before: readonly Night[];
  readonly taken: readonly Taken[];
}

/** A chart of each score, all with one scale. */
export function charts(course: Course): string {
  const scale = scaleOf(course);
  return SCORES.map(([score, name]) => chart(score, name, course, scale)).join('');
}

/** Days that moved a score more than nine ordinary days in ten do, each with the reason of the one it moved most, newest first. */
export function notableDays(nights: readonly Night[]): string {
  const items = nights.toReversed().flatMap(({ night, explained }) => {
    const [most, ...others] = explained?.notable ?? [];
    if (most === undefined) return [];
    // Overall is made of the others.
    const names = others.flatMap(({ score }) => (score === 'C_SCORE' ? [] : [score]));
    const also = names.length === 0 ? '' : ` <span>Also ${names.join(', ')}.</span>`;
    return [`<dt>${night}</dt><dd>${escaped(most.sentence)}${also}</dd>`];
  });
  const list =
    items.length === 0 ? '<p>None: all of them were ordinary days.</p>' : `<dl>${items.join('')}</dl>`;
  return `<section><h2>Notable days</h2>${list}</section>`;
}

export const LEGEND = `<ul class="legend">
<li>${key('<rect class="band" x="0" y="2" width="20" height="12"/>')}eight in ten of the ${USUAL_NIGHTS} nights before: usual</li>
<li>${key('<line class="range" x1="10" x2="10" y1="1" y2="15"/><circle class="night" cx="10" cy="8" r="3"/>')}where another watch would have put it, four times in five</li>
<li>${key('<circle class="notable" cx="10" cy="8" r="5"/>')}notable day</li>
<li>${key('<circle class="partial" cx="10" cy="8" r="3"/>')}data missing</li>
<li>${key('<path class="measured" d="M10 2l6 6-6 6-6-6z"/>')}measured</li>
<li>${key('<line class="unmeasured" x1="0" x2="20" y1="8" y2="8"/>')}without what was measured</li>
<li>${key('<line class="typical" x1="0" x2="20" y1="8" y2="8"/>')}50, typical of age and sex</li>
</ul>`;

function key(shape: string): string {
  return `<svg viewBox="0 0 20 16" aria-hidden="true">${shape}</svg>`;
}

interface Scale {
  readonly x: (ms: number) => number;
  readonly y: (points: number) => number;
  readonly low: number;
  readonly high: number;
}

function scaleOf({ nights, taken }: Course): Scale {
  const times = nights.map(({ night }) => Date.parse(night));
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const span = Math.max(last - first, DAY_MS);
  const ends = nights.flatMap(({ scores, explained }) =>
    SCORES.flatMap(([score]) => [scores[score], ...(explained?.ranges[score] ?? [])]),
  );
  const measured = measuredIn(nights, taken).flatMap(({ measurement: { value } }) =>
    typeof value === 'number' ? [value] : [],
  );
  const low = Math.max(0, Math.floor(Math.min(45, ...ends, ...measured) / 5) * 5);
  const high = Math.min(100, Math.ceil(Math.max(55, ...ends, ...measured) / 5) * 5);
  return {
    x: (ms) => LEFT + 5 + ((ms - first) / span) * (RIGHT - LEFT - 10),
    y: (points) => TOP + ((high - points) / (high - low)) * (BOTTOM - TOP),
    low,
    high,
  };
}

/** What was measured within the days of the page. */
function measuredIn(nights: readonly Night[], taken: readonly Taken[]): readonly Taken[] {
  const [first = '', last = ''] = [nights[0]?.night, nights.at(-1)?.night];
  return taken.filter(({ measurement: { on } }) => on >= first && on <= last);
}

function chart(score: Score, name: string, course: Course, scale: Scale): string {
  const { nights } = course;
  const { x, y } = scale;
  const points = nights.map((night) => [x(Date.parse(night.night)), y(night.scores[score]), night] as const);
  const marks = points.map(([px, py, night]) => mark(score, night, px, py, y));
  const now = nights.at(-1)?.scores[score].toFixed(0) ?? '';
  const label = `${name} over ${nights.length} nights, last ${now}`;
  const line = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ');
  return `<figure><figcaption><h2>${name}</h2><span>${now}</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">${band(score, course, scale)}${grid(scale)}${unmeasured(score, nights, scale)}<polyline class="course" points="${line}"/>${marks.join('')}${diamonds(score, course, scale)}
<text x="${LEFT}" y="${HEIGHT - 4}">${nights[0]?.night ?? ''}</text><text x="${RIGHT}" y="${HEIGHT - 4}" text-anchor="end">${nights.at(-1)?.night ?? ''}</text></svg></figure>`;
}

function grid({ y, low, high }: Scale): string {
  const lines = [...new Set([low, 50, high])].map((points) => {
    const at = y(points).toFixed(1);
    const kind = points === 50 ? 'typical' : 'axis';
    return `<line class="${kind}" x1="${LEFT}" x2="${RIGHT}" y1="${at}" y2="${at}"/><text x="${LEFT - 6}" y="${Number(at) + 4}" text-anchor="end">${points}</text>`;
  });
  return lines.join('');
}

/** Where eight in ten of the person's own scores of the nights before each one lay. */
function band(score: Score, { nights, before }: Course, { x, y }: Scale): string {
  const all = [...before, ...nights];
  const edges = nights.flatMap((night, index) => {
    const at = before.length + index;
    const own = all.slice(Math.max(0, at - USUAL_NIGHTS), at).map(({ scores }) => scores[score]);
    if (own.length < USUAL_LEAST) return [];
    const [low, high] = BAND.map((share) => y(quantile(own, share)).toFixed(1));
    return [{ px: x(Date.parse(night.night)).toFixed(1), low, high }];
  });
  if (edges.length < 2) return '';
  const upper = edges.map(({ px, high }) => `${px},${high}`);
  const lower = edges.toReversed().map(({ px, low }) => `${px},${low}`);
  return `<polygon class="band" points="${[...upper, ...lower].join(' ')}"/>`;
}

function mark(score: Score, night: Night, px: number, py: number, y: Scale['y']): string {
  const [cx, cy] = [px.toFixed(1), py.toFixed(1)];
  const range = night.explained?.ranges[score];
  const bar =
    range === undefined
      ? ''
      : `<line class="range" x1="${cx}" x2="${cx}" y1="${y(range[0]).toFixed(1)}" y2="${y(range[1]).toFixed(1)}"/>`;
  const notable = night.explained?.notable.find((one) => one.score === score);
  const ring = notable === undefined ? '' : `<circle class="notable" cx="${cx}" cy="${cy}" r="6"/>`;
  const title = notable?.sentence ?? `${night.scores[score].toFixed(0)}`;
  return `${bar}<circle class="${isPartial(night) ? 'partial' : 'night'}" cx="${cx}" cy="${cy}" r="3"><title>${night.night}: ${escaped(title)}</title></circle>${ring}`;
}

/** The same scores without what was measured. */
function unmeasured(score: Score, nights: readonly Night[], { x, y }: Scale): string {
  const points = nights.flatMap(({ night, unmeasured: without }) =>
    without === undefined ? [] : [`${x(Date.parse(night)).toFixed(1)},${y(without[score]).toFixed(1)}`],
  );
  return points.length === 0 ? '' : `<polyline class="unmeasured" points="${points.join(' ')}"/>`;
}

function diamonds(score: Score, { nights, taken }: Course, { x, y }: Scale): string {
  const shapes = measuredIn(nights, taken).flatMap(({ measurement }) => {
    const { on, value } = measurement;
    if (measurement.score !== score || typeof value !== 'number') return [];
    const path = `M${x(Date.parse(on)).toFixed(1)} ${(y(value) - 6).toFixed(1)}l6 6-6 6-6-6z`;
    return [`<path class="measured" d="${path}"><title>${on}: measured ${value.toFixed(0)}</title></path>`];
  });
  return shapes.join('');
}

/** Below which `share` of the values lie, between the two nearest in proportion. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [low = NaN, high = NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (at - Math.floor(at)) * (high - low);
}

export function isPartial({ quality }: Night): boolean {
  return quality?.heart !== 'series' || quality.breath !== 'series' || quality.sleep !== 'stages';
}
