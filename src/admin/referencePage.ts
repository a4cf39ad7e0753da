import { readFileSync } from 'node:fs';
import { openapiDocument, type OpenapiOptions } from '../contract/openapi.js';
import { referenceHtml, type ReferenceDocument } from './referenceHtml.js';

/** A file of the API reference. */
export interface DocsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The API reference of the admin listener: `/openapi.json`, and `/docs`, a page that shows it but can send
 * nothing; it links to `/try` if that is on. Undefined for any other path.
 */
export function adminDocs(path: string, hasTry = false): DocsAnswer | undefined {
  switch (path) {
    case '/openapi.json':
      return answer('application/json', JSON.stringify(document()));
    case '/docs':
      return answer(HTML, hasTry ? pageWithTry() : page(), { [CSP]: POLICY });
    case '/docs/reference.css':
      return answer(STYLE, style());
    default:
      return undefined;
  }
}

const HTML = 'text/html; charset=utf-8';
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

/** Makes the value on first use, so a page that is never opened costs nothing. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const document = once(() => openapiDocument(shippedParts()));

/** The versions of the service and of the network that ship together, and an example for each provider. */
export function shippedParts(): Required<Pick<OpenapiOptions, 'version' | 'model' | 'recordings'>> {
  const read = (path: string): unknown =>
    JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));
  const { version } = read('package.json') as { readonly version: string };
  const network = read('native-models/acuity-base/manifest.json') as { name: string; version: string };
  const recordings = read('assets/try/recordings.json') as OpenapiOptions['recordings'] & object;
  return { version, model: `${network.name}/${network.version}`, recordings };
}

const reference = (hasTry: boolean) => () =>
  referenceHtml(document() as unknown as ReferenceDocument, hasTry);
const page = once(reference(false));
const pageWithTry = once(reference(true));
const style = once(() =>
  readFileSync(new URL('../../assets/reference/reference.css', import.meta.url), 'utf8'),
);

const CSP = 'Content-Security-Policy';
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
