/** The shadow model: what it says beside what was answered (src/admin/differences.ts). */
import { byId, element, holding, setText } from './dom.js';
import { NONE, percent, plain } from './numbers.js';

const SVG = 'http://www.w3.org/2000/svg';
const BAR = { width: 15, height: 32, gap: 3 };

/** Hidden where none is configured. */
export function showShadow(shadow) {
  byId('shadow').hidden = shadow === undefined;
  if (shadow === undefined) return;
  const { compared, scores, flips, dropped, errors, run } = shadow;
  setText(byId('shadow-sentence'), sentenceOf(shadow));
  byId('shadow-scores')
    .querySelector('tbody')
    .replaceChildren(...scores.map(rowOf));
  const tiles = [
    ...flips.map(({ label, count }) => [`${label} turned`, plain(count), share(count, compared)]),
    ['dropped', plain(dropped), ''],
    ['without scores', plain(errors), ''],
    ['run, mean', points(run.meanMs), 'ms'],
    ['run, p99', points(run.p99Ms), 'ms'],
  ];
  byId('shadow-numbers').replaceChildren(...tiles.map(tileOf));
}

function sentenceOf({ version, refusal, share: part, compared, flips }) {
  if (refusal) return `Refused: ${refusal}`;
  if (!version) return 'There is none in its folder.';
  const turned = flips.reduce((sum, { count }) => sum + count, 0);
  return `${version} scores copies of ${percent(part)} of the answered requests: ${plain(compared)} compared, ${plain(turned)} labels turned.`;
}

function rowOf({ score, mean, meanSigned, p50, p99, histogram }) {
  return holding('tr', [
    element('td', score),
    element('td', points(mean), 'number'),
    element('td', points(meanSigned), 'number'),
    element('td', points(p50), 'number spare'),
    element('td', points(p99), 'number'),
    holding('td', [barsOf(score, histogram)]),
  ]);
}

/** A bar for each size of difference, as long as its share. */
function barsOf(score, histogram) {
  const svg = document.createElementNS(SVG, 'svg');
  const words = histogram.map(({ below, count }) => `${below === null ? 'more' : `to ${below}`}: ${count}`);
  svg.setAttribute('class', 'bars');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `${score}: ${words.join(', ')}`);
  svg.setAttribute('viewBox', `0 0 ${histogram.length * BAR.width} ${BAR.height}`);
  const most = Math.max(1, ...histogram.map(({ count }) => count));
  for (const [place, { count }] of histogram.entries()) {
    const height = Math.max(1, (count / most) * BAR.height);
    const bar = document.createElementNS(SVG, 'rect');
    bar.setAttribute('x', String(place * BAR.width));
    bar.setAttribute('y', String(BAR.height - height));
    bar.setAttribute('width', String(BAR.width - BAR.gap));
    bar.setAttribute('height', String(height));
    svg.append(bar);
  }
  return svg;
}

function tileOf([name, value, unit]) {
  return holding('div', [
    element('dt', name),
    holding('dd', [element('span', value), element('small', ` ${unit}`)]),
  ]);
}

const share = (count, all) => (all === 0 ? '' : percent(count / all));
const points = (value) => (value === null ? NONE : value.toFixed(2));
