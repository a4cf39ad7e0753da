/** The pages of the admin listener, by path. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { openapiDocument, type OpenapiOptions } from '../contract/openapi.js';
import { ifPresentSync } from '../base/files/fileError.js';
import { packageVersion } from '../base/process/packageVersion.js';
import { referenceHtml, type ReferenceDocument } from './referenceHtml.js';

/** A file of the pages of the admin listener. */
export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ROOT = new URL('../../', import.meta.url);
/** By the end of the path; without one it is HTML. */
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
};

const textOf = (path: string | URL): string => readFileSync(path, 'utf8');
const asset = (path: string) => (): string => textOf(new URL(`assets/${path}`, ROOT));
const uplot = (name: string) => (): string =>
  textOf(createRequire(import.meta.url).resolve(`uplot/dist/${name}`));

/** Pages, and files that lie elsewhere than beside their page. Everything comes from this listener. */
const SOURCES: ReadonlyMap<string, () => string> = new Map([
  ['/', asset('dashboard/index.html')],
  ['/try', asset('try/index.html')],
  ['/dashboard/uplot.js', uplot('uPlot.esm.js')],
  ['/dashboard/uplot.css', uplot('uPlot.min.css')],
  // The page shows a request as the reference does.
  ['/try/codeSamples.js', () => textOf(new URL('../contract/codeSamples.js', import.meta.url))],
  ['/openapi.json', () => JSON.stringify(openapiDocument(shippedParts()))],
  ['/docs', () => reference(false)],
  ['/docs with /try', () => reference(true)],
  ['/docs/reference.css', asset('reference/reference.css')],
]);
const FILE = /^\/(dashboard|try)\/\w+\.(js|css|json)$/;

/** For the reference, which has no script and can send nothing. */
const STILL =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const POLICY = `${STILL}; script-src 'self'; connect-src 'self'`;

const known = new Map<string, string>();

/** A page or one of its files; undefined for any other path. Each is made on first use. */
export function pageAt(path: string, hasTry: boolean): Page | undefined {
  const name = path === '/docs' && hasTry ? '/docs with /try' : path;
  const body =
    known.get(name) ??
    SOURCES.get(name)?.() ??
    (FILE.test(path) ? ifPresentSync(asset(path.slice(1))) : undefined);
  if (body === undefined) return undefined;
  known.set(name, body);
  return {
    headers: {
      'Content-Type': TYPES[/\.(\w+)$/.exec(path)?.[1] ?? ''] ?? 'text/html; charset=utf-8',
      'Cache-Control': path.startsWith('/try') ? 'no-store' : 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': path.startsWith('/docs') ? STILL : POLICY,
      'Referrer-Policy': 'no-referrer',
    },
    body,
  };
}

/** The versions of the service and of the network that ship together, and an example for each provider. */
export function shippedParts(): Required<Pick<OpenapiOptions, 'version' | 'model' | 'recordings'>> {
  const read = (path: string): unknown => JSON.parse(textOf(new URL(path, ROOT)));
  const network = read('native-models/acuity-base/manifest.json') as { name: string; version: string };
  const recordings = read('assets/try/recordings.json') as OpenapiOptions['recordings'] & object;
  return { version: packageVersion(), model: `${network.name}/${network.version}`, recordings };
}

function reference(hasTry: boolean): string {
  return referenceHtml(openapiDocument(shippedParts()) as unknown as ReferenceDocument, hasTry);
}
