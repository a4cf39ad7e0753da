/** Draws the reference with Redoc, in the colours that the reader's system is set to. */
/* global Redoc */
const font = 'system-ui, sans-serif';
const mono = 'ui-monospace, Menlo, Consolas, monospace';

const LIGHT = {
  ground: '#ffffff',
  side: '#f4f5f8',
  panel: '#1b2230',
  code: '#10141b',
  text: '#1b2230',
  faint: '#576071',
  line: '#d8dce3',
  link: '#1f5fbf',
  nested: '#f4f5f8',
  bad: '#b3261e',
  good: '#17703f',
  type: '#576071',
};
const DARK = {
  ground: '#10141b',
  side: '#191f29',
  panel: '#191f29',
  code: '#10141b',
  text: '#e5e9f0',
  faint: '#a0a9b8',
  line: '#2d3645',
  link: '#8ab8ff',
  nested: '#191f29',
  bad: '#ff8a80',
  good: '#5bd08f',
  type: '#a0a9b8',
};

function themeOf(c) {
  return {
    colors: {
      primary: { main: c.link },
      success: { main: c.good },
      error: { main: c.bad },
      text: { primary: c.text, secondary: c.faint },
      border: { dark: c.line, light: c.line },
      responses: {
        success: { color: c.good, backgroundColor: c.nested, tabTextColor: '#5bd08f' },
        error: { color: c.bad, backgroundColor: c.nested, tabTextColor: '#ff8a80' },
      },
      http: { post: '#17703f' },
    },
    schema: {
      nestedBackground: c.nested,
      linesColor: c.line,
      typeNameColor: c.type,
      typeTitleColor: c.type,
      requireLabelColor: c.bad,
    },
    typography: {
      fontFamily: font,
      headings: { fontFamily: font },
      code: { fontFamily: mono, color: c.text, backgroundColor: c.nested, wrap: true },
      links: { color: c.link, visited: c.link, hover: c.link },
    },
    sidebar: { backgroundColor: c.side, textColor: c.text, activeTextColor: c.link },
    rightPanel: { backgroundColor: c.panel, textColor: '#e5e9f0' },
    fab: { backgroundColor: c.side, color: c.link },
    codeBlock: { backgroundColor: c.code },
  };
}

const isDark = matchMedia('(prefers-color-scheme: dark)');
// Redoc takes its colours once: another scheme is another page.
isDark.addEventListener('change', () => location.reload());

Redoc.init(
  'openapi.json',
  {
    hideDownloadButtons: true,
    requiredPropsFirst: true,
    scrollYOffset: 0,
    theme: themeOf(isDark.matches ? DARK : LIGHT),
  },
  document.getElementById('reference'),
  () => {
    document.body.dataset.drawn = 'true';
  },
);
