import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openapiDocument } from '../contract/openapi.js';

/** A file of the API reference. */
export interface DocsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The API reference of the admin listener: `/openapi.json`, and `/docs`, a page that shows it and can send
 * nothing. Undefined for any other path.
 */
export function adminDocs(path: string): DocsAnswer | undefined {
  switch (path) {
    case '/openapi.json':
      return answer('application/json', JSON.stringify(document()));
    case '/docs':
      return viewer() === undefined ? answer(HTML, NO_VIEWER) : answer(HTML, PAGE, { [CSP]: POLICY });
    case '/docs/start.js':
      return answer(SCRIPT, START);
    case '/docs/redoc.js': {
      const script = viewer();
      return script === undefined ? undefined : answer(SCRIPT, script);
    }
    default:
      return undefined;
  }
}

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

function answer(type: string, body: string, more: Readonly<Record<string, string>> = {}): DocsAnswer {
  return {
    status: 200,
    headers: {
      'Content-Type': type,
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      ...more,
    },
    body,
  };
}

/** Read at the first look: who never opens the page pays nothing for it. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const document = once(() => {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return openapiDocument({ version: (JSON.parse(text) as { version: string }).version });
});

/** Redoc shows its maker's logo from its maker's server; the page may ask this listener only. */
const REMOTE_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
const EMPTY_IMAGE = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';

/** Redoc's script; undefined where it is not installed, as in an image without development packages. */
const viewer = once((): string | undefined => {
  try {
    return readFileSync(viewerPath(), 'utf8').replaceAll(REMOTE_LOGO, EMPTY_IMAGE);
  } catch {
    return undefined; // the page then says where the document itself is
  }
});

/** The packed server brings it along (scripts/serverPackage.js); a clone has it from its development packages. */
function viewerPath(): string {
  const packed = fileURLToPath(new URL('../reference/redoc.standalone.js', import.meta.url));
  return existsSync(packed)
    ? packed
    : fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js'));
}

const CSP = 'Content-Security-Policy';
/** Redoc writes its styles into the page and runs its search in a worker made from a blob. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Relative addresses: the page also works behind a proxy that adds a prefix.
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>acuity: API reference</title>
<link rel="icon" href="data:,">
<style>body { margin: 0 }</style>
</head>
<body>
<div id="reference"></div>
<script src="docs/redoc.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const START = `const font = 'system-ui, sans-serif';
Redoc.init(
  'openapi.json',
  {
    hideDownloadButtons: true,
    theme: { typography: { fontFamily: font, headings: { fontFamily: font } } },
  },
  document.getElementById('reference'),
);
`;

const NO_VIEWER = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>acuity: API reference</title></head>
<body><p>The viewer (the package redoc) is not installed. The document is at <a href="openapi.json">openapi.json</a>.</p></body>
</html>
`;
