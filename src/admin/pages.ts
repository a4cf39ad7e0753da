/** The pages of the admin listener, by path. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { openapiDocument, type OpenapiOptions } from '../contract/openapi.js';
import { packageVersion } from '../process/packageVersion.js';
import { referenceHtml, type ReferenceDocument } from './referenceHtml.js';

/** A file of the pages of the admin listener. */
export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface PageSource {
  readonly type: string;
  /** A policy without scripts and connections. */
  readonly isStill?: true;
  read(): string;
}

const ROOT = new URL('../../', import.meta.url);
const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const JSON_FILE = 'application/json';

const textOf = (path: string | URL): string => readFileSync(path, 'utf8');
const asset = (path: string, type: string): PageSource => ({
  type,
  read: () => textOf(new URL(`assets/${path}`, ROOT)),
});
const uplot = (name: string, type: string): PageSource => ({
  type,
  read: () => textOf(createRequire(import.meta.url).resolve(`uplot/dist/${name}`)),
});

const DASHBOARD = ['dashboard', 'chartList', 'charts', 'diagnosis', 'dom', 'numbers', 'shadow', 'tables'];
const TRY = ['try', 'code', 'night', 'recording', 'service', 'scores'];
const SCRIPTS = [...DASHBOARD.map((name) => `dashboard/${name}.js`), ...TRY.map((name) => `try/${name}.js`)];
const STYLES = ['dashboard/base.css', 'dashboard/dashboard.css', 'try/try.css'];

/** By path: the live page, `/try`, and the reference, which can send nothing. Everything comes from this listener. */
const SOURCES: ReadonlyMap<string, PageSource> = new Map([
  ['/', asset('dashboard/index.html', HTML)],
  ['/try', asset('try/index.html', HTML)],
  ...SCRIPTS.map((path) => [`/${path}`, asset(path, SCRIPT)] as const),
  ...STYLES.map((path) => [`/${path}`, asset(path, STYLE)] as const),
  ['/dashboard/uplot.js', uplot('uPlot.esm.js', SCRIPT)],
  ['/dashboard/uplot.css', uplot('uPlot.min.css', STYLE)],
  ['/try/recordings.json', asset('try/recordings.json', JSON_FILE)],
  // The page shows a request as the reference does.
  [
    '/try/codeSamples.js',
    { type: SCRIPT, read: () => textOf(new URL('dist/contract/codeSamples.js', ROOT)) },
  ],
  ['/openapi.json', { type: JSON_FILE, read: () => JSON.stringify(openapiDocument(shippedParts())) }],
  ['/docs', { type: HTML, isStill: true, read: () => reference(false) }],
  ['/docs with /try', { type: HTML, isStill: true, read: () => reference(true) }],
  ['/docs/reference.css', asset('reference/reference.css', STYLE)],
]);

const STILL =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const POLICY = `${STILL}; script-src 'self'; connect-src 'self'`;

const known = new Map<string, string>();

/** A page or one of its files; undefined for any other path. Each is made on first use. */
export function pageAt(path: string, hasTry: boolean): Page | undefined {
  const name = path === '/docs' && hasTry ? '/docs with /try' : path;
  const source = SOURCES.get(name);
  if (source === undefined) return undefined;
  const body = known.get(name) ?? source.read();
  known.set(name, body);
  return {
    headers: {
      'Content-Type': source.type,
      'Cache-Control': path.startsWith('/try') ? 'no-store' : 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': source.isStill === true ? STILL : POLICY,
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
