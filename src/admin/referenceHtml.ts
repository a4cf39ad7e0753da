/** The API reference as a page, made of the OpenAPI document. */
import { escapeHtml } from '../base/page.js';

/** The part of JSON Schema that the contract uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

interface Body {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content: { readonly 'application/json': Media };
}

interface Header {
  readonly name?: string;
  readonly description: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Header[];
  readonly requestBody: Body;
  readonly responses: Readonly<Record<string, Body>>;
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
}

/** The part of an OpenAPI document that the page shows. */
export interface ReferenceDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, Header>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

/**
 * The reference as one page without a script: what is sent, what comes back and the code beside it first, then fields
 * and details. Its addresses are relative, for a proxy that adds a prefix.
 */
export function referenceHtml({ info, paths, components }: ReferenceDocument, hasTry: boolean): string {
  const [opening = '', ...details] = info.description.split('\n\n');
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) =>
      operation(`${method.toUpperCase()} ${path}`, one, { opening, hasTry, ...components }),
    ),
  );
  const names = Object.keys(components.schemas);
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `<section><h3 id="${name}">${name}</h3>${fields(schema)}</section>`,
  );
  const entry = (id: string, text = id): string => `<a href="#${id}">${text}</a>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${info.title}: API reference</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="dashboard/base.css"><link rel="stylesheet" href="docs/reference.css"></head><body>
<header><h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1><nav aria-label="This port">${hasTry ? '<a href="try">try it</a> ' : ''}<a href=".">live dashboard</a> <a href="openapi.json">openapi.json</a></nav></header>
<div class="sides"><nav class="contents" aria-label="On this page">
${PARTS.map(([id, text]) => entry(id, text)).join('\n')}
<span class="schemas">${names.map((name) => entry(name)).join('\n')}</span></nav>
<main id="reference">${operations.join('\n')}
<h2 id="details">Details</h2>
${prose(details.join('\n\n'))}
<h2 id="schemas">Fields</h2>
${schemas.join('\n')}
</main></div></body></html>
`;
}

/** The sections, in order; the names of schemas follow the last. */
const PARTS = [
  ['endpoint', 'Endpoint'],
  ['request', 'Request'],
  ['answer', 'Answer'],
  ['errors', 'Errors'],
  ['details', 'Details'],
  ['schemas', 'Fields'],
] as const;

interface Around extends Pick<ReferenceDocument['components'], 'headers' | 'securitySchemes'> {
  /** The first paragraph: what the service does. */
  readonly opening: string;
  readonly hasTry: boolean;
}

function operation(
  title: string,
  one: Operation,
  { opening, hasTry, headers, securitySchemes }: Around,
): string {
  const sent = [...Object.values(securitySchemes), ...one.parameters];
  const samples = one['x-codeSamples'].map(({ label, source }, index) =>
    example(label, source, { isOpen: index === 0, group: 'samples' }),
  );
  const told = (body: Body): readonly Header[] =>
    Object.keys(body.headers ?? {}).map((name) => ({ ...headers[name], name }) as Header);
  const { 200: good, ...errors } = one.responses;
  const more = new Map(
    Object.values(errors).flatMap((body) => told(body).map((header) => [header.name, header])),
  );
  const known = new Set((good === undefined ? [] : told(good)).map(({ name }) => name));
  return `<div class="endpoint"><div><h2 id="endpoint">${escapeHtml(one.summary)}</h2><p class="path"><code>${title}</code></p>
${prose(opening)}${prose(one.description)}
<p>Send a ${typeOf(one.requestBody.content['application/json'].schema)} with your key, and a ${good === undefined ? '' : typeOf(good.content['application/json'].schema)} comes back.</p></div>
<div class="samples">${samples.join('')}</div></div>
<h2 id="request">Request</h2>${headerList(sent)}${bodyOf(one.requestBody, hasTry)}
<h2 id="answer">Answer</h2>${good === undefined ? '' : bodyOf(good, false) + headerList(told(good))}
<h2 id="errors">Errors</h2><div class="wide" tabindex="0" role="region" aria-label="Errors"><table><thead><tr><th scope="col">status</th><th scope="col">body</th><th scope="col">when, and what to do</th></tr></thead><tbody>
${Object.entries(errors)
  .map(([status, body]) => errorRow(status, body))
  .join('\n')}</tbody></table></div>
<p>With an error come:</p>${headerList([...more.values()].filter(({ name }) => !known.has(name)))}`;
}

function errorRow(status: string, { description = '', content }: Body): string {
  const { example: only, examples = {} } = content['application/json'];
  const bodies = [
    ...(only === undefined ? [] : [only]),
    ...Object.values(examples).map(({ value }) => value),
  ];
  const shown = [...new Set(bodies.map((body) => JSON.stringify(body)))];
  const codes = shown.map((body) => `<code>${escapeHtml(body)}</code>`).join('<br>');
  return `<tr><th scope="row" id="status-${status}">${status}</th><td>${codes}</td><td>${prose(description)}</td></tr>`;
}

/** Recordings, of which there is one a provider, are one row with a choice. */
function bodyOf({ description = '', content }: Body, hasTry: boolean): string {
  const { schema, example: only, examples = {} } = content['application/json'];
  const named = Object.entries(examples).map(([name, { summary = name, value }]) => ({
    isRecording: recordingOf(value) !== undefined,
    name,
    html: (label: string): string =>
      example(label, JSON.stringify(value, null, 2), hasTry ? { tryName: name } : {}),
    summary,
  }));
  const recordings = named.filter(({ isRecording }) => isRecording);
  const choice =
    recordings.length === 0
      ? ''
      : `<details><summary>A recording of one of ${recordings.length} providers, as it answered</summary><div class="choice">${recordings.map(({ name, html }) => html(name)).join('')}</div></details>`;
  const others = named.filter(({ isRecording }) => !isRecording).map(({ summary, html }) => html(summary));
  const shown = only === undefined ? '' : example('Example', JSON.stringify(only, null, 2));
  return `${prose(description)}<p>Body: ${typeOf(schema)}</p>${shown}${others.join('')}${choice}`;
}

function recordingOf(value: unknown): unknown {
  return (value as { current_session?: { recording?: unknown } }).current_session?.recording;
}

interface ExampleOptions {
  readonly isOpen?: boolean;
  /** A single one of each group is open. */
  readonly group?: string;
  /** Its name where the page /try opens it. */
  readonly tryName?: string;
}

function example(
  label: string,
  text: string,
  { isOpen = false, group, tryName }: ExampleOptions = {},
): string {
  const attributes = (group === undefined ? '' : ` name="${group}"`) + (isOpen ? ' open' : '');
  const link = tryName === undefined ? '' : `<p><a href="try#example=${tryName}">open in /try</a></p>`;
  return `<details${attributes}><summary>${escapeHtml(label)}</summary>${link}<pre tabindex="0">${escapeHtml(text)}</pre></details>`;
}

function headerList(headers: readonly Header[]): string {
  const items = headers.map(({ name = '', description, schema = {}, example: value }) => {
    const as = value === undefined ? [] : [`as <code>${escapeHtml(String(value))}</code>`];
    const said = ['header', ...boundsOf(schema), ...as].join(', ');
    return `<li><code>${name}</code> <span class="type">${said}</span>${prose(description)}</li>`;
  });
  return `<ul class="fields">${items.join('')}</ul>`;
}

/** The fields of an object, or of the objects in an array. */
function fields({ properties, items, required = [] }: Schema): string {
  if (properties === undefined) return items === undefined ? '' : fields(items);
  const list = Object.entries(properties).map(([name, schema]) => {
    const inner = fields(schema);
    const must = required.includes(name) ? ' <strong>required</strong>' : '';
    const more = inner === '' ? '' : `<details><summary>fields of ${name}</summary>${inner}</details>`;
    const head = `<code>${name}</code> <span class="type">${typeOf(schema)}</span>${must}`;
    return `<li>${head}${prose(schema.description ?? '')}${more}</li>`;
  });
  return `<ul class="fields">${list.join('')}</ul>`;
}

function typeOf({ $ref, type = [], enum: values, items, ...bounds }: Schema): string {
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return `<a href="#${name}">${name}</a>`;
  }
  if (values !== undefined)
    return values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(' or ');
  const names = [type].flat().map((name) => (name === 'array' && items ? `array of ${typeOf(items)}` : name));
  return [names.join(' or '), ...boundsOf(bounds)].join(', ');
}

function boundsOf({ minimum, maximum, minItems, maxItems, pattern }: Schema): string[] {
  return [
    range(minimum, maximum, ''),
    range(minItems, maxItems, ' items'),
    pattern === undefined ? '' : `<code>${escapeHtml(pattern)}</code>`,
  ].filter((text) => text !== '');
}

function range(low: number | undefined, high: number | undefined, unit: string): string {
  if (high === undefined) return low === undefined ? '' : `at least ${low}${unit}`;
  return low === undefined ? `at most ${high}${unit}` : `${low} to ${high}${unit}`;
}

/** Paragraphs, and code between backticks. */
function prose(text: string): string {
  const paragraphs = text.split('\n\n').filter((part) => part !== '');
  return paragraphs
    .map((part) => `<p>${escapeHtml(part).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`)
    .join('');
}
