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

/** The reference as one page without a script. Its addresses are relative, for a proxy that adds a prefix. */
export function referenceHtml({ info, paths, components }: ReferenceDocument, hasTry: boolean): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) =>
      operation(`${method.toUpperCase()} ${path}`, one, components),
    ),
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `<section><h3 id="${name}">${name}</h3>${fields(schema)}</section>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${info.title}: API reference</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="dashboard/base.css"><link rel="stylesheet" href="docs/reference.css"></head><body>
<nav aria-label="This port">${hasTry ? '<a href="try">try it</a> ' : ''}<a href=".">live dashboard</a> <a href="openapi.json">openapi.json</a> <a href="#schemas">schemas</a></nav>
<main id="reference"><h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1>${prose(info.description)}
${operations.join('\n')}
<h2 id="schemas">Schemas</h2>
${schemas.join('\n')}
</main></body></html>
`;
}

function operation(
  title: string,
  one: Operation,
  { headers, securitySchemes }: ReferenceDocument['components'],
): string {
  const sent = [...Object.values(securitySchemes), ...one.parameters];
  const samples = one['x-codeSamples'].map(({ label, source }) => example(label, source));
  const answers = Object.entries(one.responses).map(([status, body]) => {
    const told = Object.keys(body.headers ?? {}).map((name) => ({ ...headers[name], name }) as Header);
    return `<section><h4 id="status-${status}">${status}</h4>${bodyOf(body)}${headerList(told)}</section>`;
  });
  return `<h2>${escapeHtml(one.summary)}</h2><p class="path"><code>${title}</code></p>${prose(one.description)}
${samples.join('')}
<h3>Request</h3>${headerList(sent)}${bodyOf(one.requestBody)}
<h3>Answers</h3>${answers.join('\n')}`;
}

function bodyOf({ description = '', content }: Body): string {
  const { schema, example: only, examples = {} } = content['application/json'];
  const named = Object.entries(examples).map(([name, { summary = name, value }]) => json(summary, value));
  const shown = only === undefined ? named : [json('Example', only), ...named];
  return `${prose(description)}<p>Body: ${typeOf(schema)}</p>${shown.join('')}`;
}

function json(label: string, value: unknown): string {
  return example(label, JSON.stringify(value, null, 2));
}

function example(label: string, text: string): string {
  return `<details><summary>${escapeHtml(label)}</summary><pre tabindex="0">${escapeHtml(text)}</pre></details>`;
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
