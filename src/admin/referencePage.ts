import { readFileSync } from 'node:fs';
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
      return answer(HTML, page(), { [CSP]: POLICY });
    case '/docs/start.js':
      return answer(SCRIPT, start());
    case '/docs/reference.css':
      return answer(STYLE, style());
    case '/docs/redoc.js':
      return answer(SCRIPT, viewer());
    default:
      return undefined;
  }
}

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

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

const file = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

/** Its one colour of text that no theme names, and that can't be read on a dark ground. */
const PATTERN_COLOUR = '#0e7c86';

/** Redoc's script; the build puts it beside this code. */
const viewer = once(() =>
  file('../reference/redoc.standalone.js')
    .replaceAll(REMOTE_LOGO, EMPTY_IMAGE)
    .replaceAll(PATTERN_COLOUR, 'inherit'),
);
// Their addresses are relative: the page also works behind a proxy that adds a prefix.
const page = once(() => file('../../assets/reference/index.html'));
const start = once(() => file('../../assets/reference/start.js'));
const style = once(() => file('../../assets/reference/reference.css'));

const CSP = 'Content-Security-Policy';
/** Redoc writes its styles into the page and runs its search in a worker made from a blob. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
