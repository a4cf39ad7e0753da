import type { Night, Unscored } from './store.js';

const SCORES = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'] as const;

const STYLE = `
:root { color-scheme: light dark }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif }
.scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .6rem; border-bottom: 1px solid color-mix(in srgb, currentcolor 25%, transparent); text-align: right; white-space: nowrap }
th:first-child { text-align: left }
dd { margin: 0 0 .6rem }
li, dd { overflow-wrap: anywhere }
`;

/** All people with a scored night. */
export function pageOfPeople(people: readonly string[]): string {
  const items = people.map(
    (person) => `<li><a href="/people/${encodeURIComponent(person)}">${escaped(person)}</a></li>`,
  );
  return documentOf('Nights', items.length === 0 ? '<p>No night was scored yet.</p>' : list(items));
}

/** A person's last nights, newest first, with what is to be said of them; and what was not scored. */
export function pageOfPerson(
  person: string,
  nights: readonly Night[],
  unscored: readonly Unscored[],
): string {
  const [last] = nights;
  const others = unscored.map(({ at, why }) => `<li>${escaped(at.slice(0, 16))} ${escaped(why)}</li>`);
  const notes = nights.flatMap(({ night, notes: said }) =>
    said.length === 0 ? [] : [`<dt>${night}</dt>${said.map((note) => `<dd>${escaped(note)}</dd>`).join('')}`],
  );
  return documentOf(
    person,
    [
      last === undefined
        ? '<p>No night was scored yet.</p>'
        : `<p>${nights.length} ${nights.length === 1 ? 'night' : 'nights'}, the last scored by ${escaped(last.modelVersion)}.</p>${table(nights)}`,
      notes.length === 0 ? '' : `<h2>Notes</h2><dl>${notes.join('')}</dl>`,
      others.length === 0 ? '' : `<h2>Came and was not scored</h2>${list(others)}`,
      '<p><a href="/">Everybody</a></p>',
    ].join('\n'),
  );
}

function table(nights: readonly Night[]): string {
  const heads = SCORES.map((name) => `<th scope="col">${name}</th>`).join('');
  const rows = nights.map(({ night, scores }) => {
    const cells = SCORES.map((name) => {
      const score = scores[name];
      return `<td>${typeof score === 'number' ? score.toFixed(0) : score}</td>`;
    });
    return `<tr><th scope="row">${night}</th>${cells.join('')}</tr>`;
  });
  return `<div class="scroll" tabindex="0" role="region" aria-label="Nights"><table><thead><tr><th scope="col">night</th>${heads}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function list(items: readonly string[]): string {
  return `<ul>${items.join('')}</ul>`;
}

function documentOf(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>${escaped(title)}</title><style>${STYLE}</style></head><body><main><h1>${escaped(title)}</h1>${body}</main></body></html>\n`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
