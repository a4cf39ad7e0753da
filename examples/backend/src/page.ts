import { documentOf, escaped } from './document.js';
import { charts, isPartial, LEGEND, notableDays, SCORES } from './weeks.js';
import type { Night, Taken, Unscored } from './store.js';

/** All people with a scored night. */
export function pageOfPeople(people: readonly string[]): string {
  const items = people.map(
    (person) => `<li><a href="/people/${encodeURIComponent(person)}">${escaped(person)}</a></li>`,
  );
  const list = items.length === 0 ? '<p>No night was scored yet.</p>' : `<ul>${items.join('')}</ul>`;
  return documentOf('Nights', `<h1>Nights</h1>${list}`);
}

/** The data about a person. */
export interface Weeks {
  readonly nights: readonly Night[];
  /** Earlier nights, which define what was usual. */
  readonly before: readonly Night[];
  readonly unscored: readonly Unscored[];
  /** Newest first. */
  readonly taken: readonly Taken[];
}

/** A person's last weeks: each score over time, measurements, the data behind each night, and what was not scored. */
export function pageOfPerson(person: string, { nights, before, unscored, taken }: Weeks): string {
  const last = nights.at(-1);
  const tests = measured(person, taken);
  const others = listOf(unscored);
  if (last === undefined)
    return documentOf(person, `<h1>${escaped(person)}</h1><p>No night was scored yet.</p>${tests}${others}`);
  const partial = nights.filter((night) => isPartial(night)).length;
  const about = `${nights.length} nights, scored by ${escaped(last.modelVersion)}. ${
    partial === 0 ? 'All of them had full data.' : `${partial} of them with data missing.`
  }`;
  return documentOf(
    person,
    `<h1>${escaped(person)}</h1><p>${about}</p>${LEGEND}<div class="charts">${charts({ nights, before, taken })}</div>${notableDays(nights)}${tests}${table(nights)}${others}<p><a href="/">Everybody</a></p>`,
  );
}

function table(nights: readonly Night[]): string {
  const heads = SCORES.map(([, name]) => `<th class="number">${name}</th>`).join('');
  const rows = nights.toReversed().map(({ night, scores, quality, notes }) => {
    const numbers = SCORES.map(([score]) => `<td class="number">${scores[score].toFixed(0)}</td>`).join('');
    const parts = [quality?.heart, quality?.breath, quality?.sleep]
      .map((part) => `<td${part === 'series' || part === 'stages' ? '' : ' class="weak"'}>${part ?? ''}</td>`)
      .join('');
    const note = `<td class="note">${notes.map(escaped).join('; ')}</td>`;
    return `<tr><th scope="row">${night}</th>${numbers}<td>${scores.valence}</td><td>${scores.arousal}</td>${parts}${note}</tr>`;
  });
  return `<div class="scroll" tabindex="0" role="region" aria-label="Nights"><table><thead><tr><th>Night</th>${heads}<th>Valence</th><th>Arousal</th><th>Heart rate</th><th>Breathing</th><th>Sleep</th><th>Notes</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

/** The results of tests and questionnaires, with links to take them. */
function measured(person: string, taken: readonly Taken[]): string {
  const path = `/people/${encodeURIComponent(person)}`;
  const items = taken.map(({ measurement: { score, value, on }, isSent }) => {
    const state = isSent ? 'counts' : 'waits';
    return `<tr><th scope="row">${on}</th><td>${score}</td><td class="number">${typeof value === 'number' ? value.toFixed(0) : value}</td><td>${state}</td></tr>`;
  });
  const list =
    items.length === 0
      ? '<p>Nothing yet. One test says more of a person than all their nights.</p>'
      : `<p>Percentiles among people of that age and sex. What waits counts with the next night.</p><table><thead><tr><th>Day</th><th>Score</th><th class="number">Percentile</th><th></th></tr></thead><tbody>${items.join('')}</tbody></table>`;
  return `<section class="narrow"><h2>Measured</h2>${list}<div class="bar"><a href="${path}/questions">Ten questions about stress</a><a href="${path}/reaction">Reaction test, three minutes</a></div></section>`;
}

function listOf(unscored: readonly Unscored[]): string {
  if (unscored.length === 0) return '';
  const items = unscored.map(({ at, why }) => `<li>${escaped(at.slice(0, 16))} ${escaped(why)}</li>`);
  return `<h2>Came and was not scored</h2><ul>${items.join('')}</ul>`;
}
