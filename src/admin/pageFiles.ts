import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { DocsAnswer } from './referencePage.js';

const ASSETS = new URL('../../assets/', import.meta.url);
const COMPILED = new URL('../', import.meta.url);
const UPLOT = 'uplot/dist/';

interface PageFile {
  readonly type: string;
  readonly location: () => URL | string;
}

const asset = (path: string, type: string): PageFile => ({ type, location: () => new URL(path, ASSETS) });
const uplot = (name: string, type: string): PageFile => ({
  type,
  location: () => createRequire(import.meta.url).resolve(UPLOT + name),
});

const compiled = (path: string): PageFile => ({ type: SCRIPT, location: () => new URL(path, COMPILED) });

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

const SCRIPTS: readonly string[] = [
  'dashboard/dashboard.js',
  'dashboard/chartList.js',
  'dashboard/charts.js',
  'dashboard/diagnosis.js',
  'dashboard/dom.js',
  'dashboard/numbers.js',
  'dashboard/shadow.js',
  'dashboard/tables.js',
  'try/try.js',
  'try/code.js',
  'try/night.js',
  'try/recording.js',
  'try/service.js',
  'try/scores.js',
];
const STYLES: readonly string[] = ['dashboard/base.css', 'dashboard/dashboard.css', 'try/try.css'];

/** The files of the live page and of `/try`, by path. Everything comes from this listener. */
const FILES: ReadonlyMap<string, PageFile> = new Map([
  ['/', asset('dashboard/index.html', HTML)],
  ['/try', asset('try/index.html', HTML)],
  ...SCRIPTS.map((path) => [`/${path}`, asset(path, SCRIPT)] as const),
  ...STYLES.map((path) => [`/${path}`, asset(path, STYLE)] as const),
  ['/dashboard/uplot.js', uplot('uPlot.esm.js', SCRIPT)],
  ['/dashboard/uplot.css', uplot('uPlot.min.css', STYLE)],
  ['/try/recordings.json', asset('try/recordings.json', 'application/json')],
  // The page shows a request as the reference does.
  ['/try/codeSamples.js', compiled('contract/codeSamples.js')],
]);

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const read = new Map<string, string>();

/** A file of these pages; undefined for any other path. Each is read on first use. */
export function pageFile(path: string): DocsAnswer | undefined {
  const file = FILES.get(path);
  if (file === undefined) return undefined;
  const body = read.get(path) ?? readFileSync(file.location(), 'utf8');
  read.set(path, body);
  return {
    status: 200,
    headers: {
      'Content-Type': file.type,
      'Cache-Control': path.startsWith('/try') ? 'no-store' : 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
    },
    body,
  };
}
