import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { DocsAnswer } from './referencePage.js';

const ASSETS = new URL('../../assets/dashboard/', import.meta.url);
const UPLOT = 'uplot/dist/';

interface PageFile {
  readonly type: string;
  readonly location: () => URL | string;
}

const asset = (name: string, type: string): PageFile => ({ type, location: () => new URL(name, ASSETS) });
const uplot = (name: string, type: string): PageFile => ({
  type,
  location: () => createRequire(import.meta.url).resolve(UPLOT + name),
});

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

const SCRIPTS: readonly string[] = [
  'dashboard.js',
  'chartList.js',
  'charts.js',
  'diagnosis.js',
  'dom.js',
  'numbers.js',
  'shadow.js',
  'tables.js',
];

/** By path: what the live page is made of. Everything comes from this listener. */
const FILES: ReadonlyMap<string, PageFile> = new Map([
  ['/', asset('index.html', HTML)],
  ...SCRIPTS.map((name) => [`/dashboard/${name}`, asset(name, SCRIPT)] as const),
  ['/dashboard/dashboard.css', asset('dashboard.css', STYLE)],
  ['/dashboard/uplot.js', uplot('uPlot.esm.js', SCRIPT)],
  ['/dashboard/uplot.css', uplot('uPlot.min.css', STYLE)],
]);

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const read = new Map<string, string>();

/** A file of the live page; undefined for any other path. Read at the first look. */
export function dashboardFile(path: string): DocsAnswer | undefined {
  const file = FILES.get(path);
  if (file === undefined) return undefined;
  const body = read.get(path) ?? readFileSync(file.location(), 'utf8');
  read.set(path, body);
  return {
    status: 200,
    headers: {
      'Content-Type': file.type,
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
    },
    body,
  };
}
