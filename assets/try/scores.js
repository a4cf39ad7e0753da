/**
 * Draws an answer: the five scores on their axis, and what made the chosen one. A score has whole points, what
 * adds up has tenths. */
import { byId, element, holding, setText } from '../dashboard/dom.js';

const SVG = 'http://www.w3.org/2000/svg';
const NAMES = {
  C_SCORE: 'C_SCORE',
  attention: 'Attention',
  memory: 'Memory',
  reasoning: 'Reasoning',
  stress: 'Stress',
};
const AGAINST = {
  typical: 'a typical day at this age and sex',
  'last nights': 'a day like the last nights',
  usual: 'a usual day of this person',
};
const HEIGHT = 28;
/** A bar as long as half the width stands for so many points, or more where one is longer. */
const POINTS_LEAST = 5;

let chosen = 'C_SCORE';
let answer;
let onChoice = () => undefined;
const rows = new Map();

/** `onChosen` is called with the name of the score that is explained from now on. */
export function makeScores(onChosen) {
  onChoice = onChosen;
  for (const [name, label] of Object.entries(NAMES)) {
    const svg = drawing('axis');
    const number = element('b', '–');
    const change = element('small');
    const unseen = element('span', '', 'unseen');
    const points = holding('span', [number, change], 'points');
    const row = holding('button', [element('span', label), svg, points, unseen], 'score');
    row.type = 'button';
    row.dataset.score = name;
    row.addEventListener('click', () => choose(name));
    const brief = element('b', '–');
    byId('strip').append(holding('span', [label, brief]));
    rows.set(name, { row, svg, number, change, brief, unseen });
  }
  const marks = holding(
    'span',
    [0, 50, 100].map((at) => element('span', String(at))),
    'marks',
  );
  const scale = holding('div', [element('span'), marks], 'score scale');
  scale.setAttribute('aria-hidden', 'true');
  byId('scores').replaceChildren(...[...rows.values()].map(({ row }) => row), scale);
  const key = (kind, ...words) => holding('span', [element('span', undefined, `key ${kind}`), ...words]);
  byId('legend').replaceChildren(
    key('dot', 'score'),
    key('range', 'another ordinary device, four times in five'),
    key('dashes', '50, typical'),
    key('tick', holding('span', [AGAINST.typical], 'against'), '; beside the score, the points from it'),
  );
  choose(chosen);
}

export const chosenScore = () => chosen;
export const nameOf = (name) => NAMES[name];

function choose(name) {
  chosen = name;
  for (const [one, { row }] of rows) row.setAttribute('aria-pressed', String(one === name));
  if (answer !== undefined) explain();
  onChoice(name);
}

export function showScores(newAnswer) {
  answer = newAnswer;
  const { explanation } = answer;
  for (const [name, { svg, number, change, brief, unseen }] of rows) {
    const { reference, change: moved, repeatability } = explanation.scores[name];
    setText(number, String(Math.round(answer[name])));
    setText(change, signed(moved));
    setText(brief, String(Math.round(answer[name])));
    drawAxis(svg, answer[name], reference, repeatability);
    setText(unseen, words(name));
  }
  setText(document.querySelector('#legend .against'), AGAINST[explanation.against]);
  showLabels();
  explain();
}

/** Shows that there are none. */
export function clearScores() {
  answer = undefined;
  for (const { svg, number, change, brief, unseen } of rows.values()) {
    svg.replaceChildren();
    setText(number, '–');
    setText(change, '');
    setText(brief, '–');
    setText(unseen, 'no score');
  }
  for (const id of ['labels', 'sentences', 'quality']) setText(byId(id), '');
  byId('contributors').replaceChildren();
}

/** All scores in one sentence, for those who don't see them move. */
export function sentenceOfAll() {
  return Object.entries(NAMES)
    .map(([name, label]) => `${label} ${Math.round(answer[name])}`)
    .join(', ');
}

/** What the drawing says, for those who don't see it. */
function words(name) {
  const { reference, repeatability } = answer.explanation.scores[name];
  const [low, high] = repeatability.map(Math.round);
  return `from ${Math.round(reference)} on ${AGAINST[answer.explanation.against]}; another device ${low} to ${high}; 50 is typical`;
}

function showLabels() {
  const { valence, arousal } = answer.explanation.labels;
  const percent = (value) => `${Math.round(value * 100)} %`;
  setText(
    byId('labels'),
    `Valence: ${answer.valence} (${percent(valence)} chance of High). Arousal: ${answer.arousal} (${percent(arousal)} chance of High).`,
  );
}

function explain() {
  const { explanation } = answer;
  setText(byId('why-title'), `Why: ${NAMES[chosen]}`);
  setText(byId('sentences'), explanation.scores[chosen].text);
  const parts = explanation.contributors.map(({ label, [chosen]: points }) => ({ label, points }));
  const most = Math.max(POINTS_LEAST, ...parts.map(({ points }) => Math.abs(points)));
  const { change } = explanation.scores[chosen];
  const tenths = tenthsOf(
    parts.map(({ points }) => points),
    change,
  );
  byId('contributors').replaceChildren(
    ...parts.map(({ label, points }, index) =>
      holding(
        'div',
        [
          element('span', label),
          drawBar(points / most),
          element('span', signed(tenths[index]) || '0', 'points'),
        ],
        'part',
      ),
    ),
    holding(
      'div',
      [element('span', 'in all'), element('span'), element('span', signed(change) || '0', 'points')],
      'part sum',
    ),
  );
  showQuality(explanation.quality);
}

/** Nothing where nothing is wrong with the night. */
function showQuality({ missing, implausible, not_at_rest: notAtRest }) {
  const some = (what, fields) => (fields.length === 0 ? [] : [`${what}: ${fields.join(', ')}.`]);
  const told = [
    ...some('Missing', missing),
    ...some('Unlikely', implausible),
    ...some('Not at rest, so left out', notAtRest),
  ].join(' ');
  byId('quality').hidden = told === '';
  setText(byId('quality'), told);
}

function drawAxis(svg, score, reference, [low, high]) {
  svg.replaceChildren(
    line('rule', 0, 14, 100, 14),
    line('typical', 50, 2, 50, 26),
    box('range', low, 9, Math.max(0.5, high - low), 10),
    line('reference', reference, 5, reference, 23),
    line('dot', score, 14, score, 14),
  );
}

/** Right of the middle what adds, left of it what takes away. */
function drawBar(share) {
  const svg = drawing('bar-of-part');
  const width = Math.abs(share) * 50;
  svg.append(
    box(share < 0 ? 'less' : 'more', share < 0 ? 50 - width : 50, 8, width, 12),
    line('rule', 50, 2, 50, 26),
  );
  return svg;
}

function drawing(className) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', className);
  svg.setAttribute('viewBox', `0 0 100 ${HEIGHT}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  return svg;
}

function line(className, x1, y1, x2, y2) {
  return shape('line', { class: className, x1, y1, x2, y2 });
}

function box(className, x, y, width, height) {
  return shape('rect', { class: className, x, y, width, height });
}

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** The chosen score of each night, the oldest first. */
export function drawLine(nights) {
  const shown = nights.slice(-30);
  const svg = drawing('nights');
  svg.setAttribute('viewBox', '0 0 100 40');
  const x = (index) => (shown.length === 1 ? 50 : 2 + (index * 96) / (shown.length - 1));
  const values = [40, 60, ...shown.map((night) => night[chosen])];
  const [low, high] = [Math.min(...values) - 2, Math.max(...values) + 2];
  const y = (score) => 40 - ((score - low) / (high - low)) * 40;
  const points = shown.map((night, index) => `${x(index)},${y(night[chosen])}`).join(' ');
  svg.append(
    line('typical', 0, y(50), 100, y(50)),
    shape('polyline', { class: 'course', points }),
    ...shown.map((night, index) => line('dot', x(index), y(night[chosen]), x(index), y(night[chosen]))),
  );
  return svg;
}

/** Parts in tenths that add up to `sum` in tenths: the largest absorbs what rounding leaves, as in the answer. */
function tenthsOf(parts, sum) {
  const whole = parts.map((points) => Math.round(points * 10));
  const largest = parts.reduce(
    (at, points, index) => (Math.abs(points) > Math.abs(parts[at]) ? index : at),
    0,
  );
  whole[largest] += Math.round(sum * 10) - whole.reduce((total, one) => total + one, 0);
  return whole.map((one) => one / 10);
}

/** To a tenth; '' where that is none. */
function signed(points) {
  const tenths = Math.round(points * 10);
  return tenths === 0 ? '' : `${tenths > 0 ? '+' : '−'}${(Math.abs(tenths) / 10).toFixed(1)}`;
}
