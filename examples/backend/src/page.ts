import type { Night, Unscored } from './store.js';

type Score = 'C_SCORE' | 'attention' | 'memory' | 'reasoning' | 'stress';

const SCORES: readonly (readonly [Score, string])[] = [
  ['C_SCORE', 'Overall'],
  ['attention', 'Attention'],
  ['memory', 'Memory'],
  ['reasoning', 'Reasoning'],
  ['stress', 'Stress'],
];
const WIDTH = 320;
const HEIGHT = 120;
const DAY_MS = 86_400_000;

const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --text: #1b1f24; --soft: #57606a; --line: #d5dae0; --mark: #0b5cad; --warn: #8a4b00 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171b; --text: #e6e9ed; --soft: #a7b0ba; --line: #363d45; --mark: #6fb3ff; --warn: #f0b35b } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem; margin: .5rem 0 } h2 { font-size: 1rem; margin: 0 }
p { margin: .25rem 0 1rem; color: var(--soft) } a { color: var(--mark) }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 1rem }
figure { margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: .5rem }
figcaption { display: flex; justify-content: space-between; font-weight: 600 }
svg { display: block; width: 100%; height: auto; overflow: visible }
svg text { fill: var(--soft); font-size: 12px }
.axis { stroke: var(--line) } .typical { stroke: var(--soft); stroke-dasharray: 3 4 }
.course { fill: none; stroke: var(--mark); stroke-width: 2 } .night { fill: var(--mark) } .partial { fill: var(--ground); stroke: var(--warn); stroke-width: 2 }
li { overflow-wrap: anywhere } .scroll { overflow-x: auto; margin-top: 1.5rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap }
td.note { white-space: normal; min-width: 14rem } td.number { text-align: right } th.number { text-align: right } .weak { color: var(--warn) }
`;

/** Everybody with a scored night. */
export function pageOfPeople(people: readonly string[]): string {
  const items = people.map(
    (person) => `<li><a href="/people/${encodeURIComponent(person)}">${escaped(person)}</a></li>`,
  );
  const list = items.length === 0 ? '<p>Nobody yet: no night was scored.</p>' : `<ul>${items.join('')}</ul>`;
  return documentOf('Nights', `<h1>Nights</h1>${list}`);
}

/** A person's last weeks: each score over time, what the data of each night consisted of, and what was not scored. */
export function pageOfPerson(
  person: string,
  nights: readonly Night[],
  unscored: readonly Unscored[],
): string {
  const last = nights.at(-1);
  const others = listOf(unscored);
  if (last === undefined)
    return documentOf(person, `<h1>${escaped(person)}</h1><p>No night was scored yet.</p>${others}`);
  const partial = nights.filter((night) => isPartial(night)).length;
  const about = `${nights.length} nights, scored by ${escaped(last.modelVersion)}. 50 is typical for age and sex. ${
    partial === 0 ? 'All of them had full data.' : `${partial} of them with data missing: hollow.`
  }`;
  const charts = SCORES.map(([score, name]) => chart(score, name, nights)).join('');
  return documentOf(
    person,
    `<h1>${escaped(person)}</h1><p>${about}</p><div class="charts">${charts}</div>${table(nights)}${others}<p><a href="/">Everybody</a></p>`,
  );
}

function chart(score: Score, name: string, nights: readonly Night[]): string {
  const times = nights.map(({ at }) => Date.parse(at));
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const x = (ms: number) => 28 + ((ms - first) / Math.max(last - first, DAY_MS)) * (WIDTH - 36);
  const y = (value: number) => 8 + (1 - value / 100) * (HEIGHT - 28);
  const points = nights.map((night) => [x(Date.parse(night.at)), y(night.scores[score]), night] as const);
  const grid = [0, 50, 100].map((value) => {
    const kind = value === 50 ? 'typical' : 'axis';
    const at = y(value).toFixed(1);
    return `<line class="${kind}" x1="28" x2="${WIDTH - 8}" y1="${at}" y2="${at}"/><text x="22" y="${Number(at) + 4}" text-anchor="end">${value}</text>`;
  });
  const course = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ');
  const marks = points.map(([px, py, night]) => {
    const kind = isPartial(night) ? 'partial' : 'night';
    const title = `${dayOf(night.at)}: ${night.scores[score].toFixed(0)}`;
    return `<circle class="${kind}" cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="3.5"><title>${title}</title></circle>`;
  });
  const now = nights.at(-1)?.scores[score].toFixed(0) ?? '';
  const label = `${name} over ${nights.length} nights, last ${now}`;
  return `<figure><figcaption><h2>${name}</h2><span>${now}</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">${grid.join('')}<polyline class="course" points="${course}"/>${marks.join('')}
<text x="28" y="${HEIGHT - 2}">${dayOf(nights[0]?.at ?? '')}</text><text x="${WIDTH - 8}" y="${HEIGHT - 2}" text-anchor="end">${dayOf(nights.at(-1)?.at ?? '')}</text></svg></figure>`;
}

function table(nights: readonly Night[]): string {
  const heads = SCORES.map(([, name]) => `<th class="number">${name}</th>`).join('');
  const rows = nights.toReversed().map(({ night, scores, quality, notes }) => {
    const numbers = SCORES.map(([score]) => `<td class="number">${scores[score].toFixed(0)}</td>`).join('');
    const parts = [quality.heart, quality.breath, quality.sleep]
      .map((part) => `<td${part === 'series' || part === 'stages' ? '' : ' class="weak"'}>${part}</td>`)
      .join('');
    const note = `<td class="note">${notes.map(escaped).join('; ')}</td>`;
    return `<tr><th scope="row">${night}</th>${numbers}<td>${scores.valence}</td><td>${scores.arousal}</td>${parts}${note}</tr>`;
  });
  return `<div class="scroll" tabindex="0" role="region" aria-label="Nights"><table><thead><tr><th>Night</th>${heads}<th>Valence</th><th>Arousal</th><th>Heart rate</th><th>Breathing</th><th>Sleep</th><th>Notes</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function listOf(unscored: readonly Unscored[]): string {
  if (unscored.length === 0) return '';
  const items = unscored.map(({ at, why }) => `<li>${escaped(at.slice(0, 16))} ${escaped(why)}</li>`);
  return `<h2>Came and was not scored</h2><ul>${items.join('')}</ul>`;
}

function isPartial({ quality }: Night): boolean {
  return quality.heart !== 'series' || quality.breath !== 'series' || quality.sleep !== 'stages';
}

function dayOf(at: string): string {
  return at.slice(0, 10);
}

function documentOf(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>${escaped(title)}</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>\n`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
