/** Pages of HTML without scripts: reports and verdicts. */

/** A section of a page. `html` is trusted: its author must escape any input in it. */
export interface PageSection {
  readonly heading: string;
  /** One sentence on how to read the section; plain text. */
  readonly note?: string;
  readonly html: string;
}

/** A colour that supports what the words say. */
export type Tone = 'good' | 'bad';

export interface HtmlPage {
  readonly title: string;
  /** The main point; plain text. */
  readonly lead?: { readonly text: string; readonly tone?: Tone };
  /** Plain text below the title: the machine, the settings. */
  readonly subtitle: string;
  readonly sections: readonly PageSection[];
  /** Rules for this page only, after the common ones. */
  readonly style?: string;
}

/** Colours by name, light and dark. */
const COLOURS = {
  paper: ['#ffffff', '#14171c'],
  ink: ['#1b1f24', '#e8eaed'],
  muted: ['#59636e', '#9aa4b0'],
  grid: ['#dde1e6', '#2f363f'],
  one: ['#0b63c5', '#6cb0ff'],
  good: ['#17703f', '#5bd08f'],
  bad: ['#b3261e', '#ff8a80'],
} as const;

const STYLE = `
*{box-sizing:border-box}
body{margin:0 auto;max-width:1060px;padding:1.2rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2.2rem 0 .3rem}p{margin:.3rem 0}
.sub,.note{color:var(--muted)}.note{max-width:46rem}
.wide{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{padding:.3rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid)}
th:first-child,td:first-child{text-align:left;padding-left:0}
.lead{margin:.8rem 0;padding:.6rem .9rem;border:1px solid var(--grid);border-left:.35rem solid;border-radius:6px;font-size:1.15rem;font-weight:600}
.lead.good,td.good,th.good{color:var(--good)}.lead.bad,td.bad{color:var(--bad)}td.good,td.bad{font-weight:600}
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.8rem;border:1px solid var(--grid);border-radius:6px}
.bar{display:inline-block;height:.7rem;background:var(--one);border-radius:2px;vertical-align:middle}
@media(max-width:40rem){body{padding:.8rem}th,td{white-space:normal;padding:.3rem .2rem;overflow-wrap:break-word}table{width:100%;font-size:.72rem}.bar{max-width:100%}}
`;

/** The colours as CSS, for the reader's light or dark setting. */
function colourStyle(): string {
  const set = Object.entries(COLOURS).map(([name, pair]) => `--${name}:light-dark(${pair.join(',')})`);
  return `:root{color-scheme:light dark;${set.join(';')}}`;
}

/** One self-contained HTML document: no scripts, nothing loaded. */
export function pageOf({ title, lead, subtitle, sections, style = '' }: HtmlPage): string {
  const parts = sections.map(({ heading, note, html }) =>
    [
      `<section><h2>${escapeHtml(heading)}</h2>`,
      note === undefined ? '' : `<p class="note">${escapeHtml(note)}</p>`,
      html,
      '</section>',
    ].join('\n'),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title><style>${colourStyle()}${STYLE}${style}</style></head><body>
<main>
<h1>${escapeHtml(title)}</h1>${lead === undefined ? '' : `<p class="lead ${lead.tone ?? ''}">${escapeHtml(lead.text)}</p>`}
<p class="sub">${escapeHtml(subtitle)}</p>
${parts.join('\n')}
</main></body></html>
`;
}

/** The first row is the header; `toneOf` colours cells. */
export function htmlTable(
  [header = [], ...rows]: readonly (readonly string[])[],
  toneOf: (cell: string, column: number) => Tone | undefined = () => undefined,
): string {
  const cellOf = (cell: string, column: number, tag: 'th' | 'td'): string => {
    const tone = toneOf(cell, column);
    return `<${tag}${tone === undefined ? '' : ` class="${tone}"`}>${escapeHtml(cell)}</${tag}>`;
  };
  const line = (cells: readonly string[], tag: 'th' | 'td'): string =>
    `<tr>${cells.map((cell, column) => cellOf(cell, column, tag)).join('')}</tr>`;
  return `<div class="wide"><table>${line(header, 'th')}${rows.map((row) => line(row, 'td')).join('')}</table></div>`;
}

/** Escapes text for HTML, both content and attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
