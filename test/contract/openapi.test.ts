import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t, { type Test } from 'tap';
import { shippedParts } from '#acuity/admin/pages.js';
import { MALFORMED_EXAMPLE, UNPROCESSABLE_EXAMPLE } from '#acuity/contract/openapiExamples.js';
import { MALFORMED, PROBLEMS, UNPROCESSABLE } from '#acuity/contract/problems.js';
import { send, type Reply, type Sent } from '../fixtures/connection.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { startServer } from '../fixtures/server.js';

interface Media {
  readonly schema: { readonly $ref: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Response {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content: { readonly 'application/json': Media };
}

/** As much of the document's shape as the tests look at. */
interface Document {
  readonly components: { readonly schemas: object };
  readonly paths: {
    readonly '/predict': {
      readonly post: {
        readonly requestBody: { readonly content: { readonly 'application/json': Media } };
        readonly responses: Readonly<Record<string, Response>>;
      };
    };
  };
}

const COMMITTED = readFileSync(join(REPOSITORY, 'docs/openapi.json'), 'utf8');
const SHIPPED = shippedParts();
const DOCUMENT = JSON.parse(COMMITTED) as Document;
const OPERATION = DOCUMENT.paths['/predict'].post;

t.test('it is an OpenAPI document, all of whose references lead somewhere', async (t) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(COMMITTED) as Record<string, unknown>);
  t.ok(valid, JSON.stringify(errors));
  validator.resolveRefs(); // throws where one leads nowhere
});

t.test('generators can read every schema: one type beside null, and beside an enumeration', async (t) => {
  const look = (schema: unknown, where: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { type, enum: words, format } = schema as Readonly<Record<string, unknown>>;
    if (Array.isArray(type)) t.equal(type.filter((name) => name !== 'null').length, 1, where);
    const kinds = Array.isArray(words) ? words.map((word) => (word === null ? 'null' : typeof word)) : [];
    const named = [type].flat().map((name) => (name === 'integer' ? 'number' : name));
    t.ok(
      kinds.every((kind) => named.includes(kind)),
      where,
    );
    if ([type].flat().includes('number')) t.equal(format, 'double', where);
    for (const [name, part] of Object.entries(schema)) look(part, `${where}/${name}`);
  };
  look(DOCUMENT.components.schemas, '');
});

t.test('the operation lists the problems of the catalogue, and nothing else', async (t) => {
  const { notFound, methodNotAllowed, ...ours } = PROBLEMS; // of other paths and methods
  const statuses = [{ status: 200 }, MALFORMED, UNPROCESSABLE, ...Object.values(ours)].map(
    ({ status }) => status,
  );
  t.strictSame(Object.keys(OPERATION.responses), [...new Set(statuses)].sort().map(String));
  t.notOk(
    String(notFound.status) in OPERATION.responses || String(methodNotAllowed.status) in OPERATION.responses,
  );
});

/** Every example of a media object, by name. */
function examplesOf({ example, examples = {} }: Media): [name: string, value: unknown][] {
  const named = Object.entries(examples).map(([name, { value }]): [string, unknown] => [name, value]);
  return example === undefined ? named : [['example', example], ...named];
}

t.test('every example is valid, and there is one for each answer', async (t) => {
  const ajv = new Ajv2020({ strict: false }).addSchema(DOCUMENT, 'doc');
  const media: [string, Media][] = [
    ['request', OPERATION.requestBody.content['application/json']],
    ...Object.entries(OPERATION.responses).map(([status, { content }]): [string, Media] => [
      status,
      content['application/json'],
    ]),
  ];
  for (const [where, one] of media) {
    const check = ajv.compile({ $ref: `doc${one.schema.$ref}` });
    const examples = examplesOf(one);
    t.ok(examples.length > 0, where);
    for (const [name, value] of examples)
      t.ok(check(value), `${where} ${name}: ${ajv.errorsText(check.errors)}`);
  }
});

/** The answer has the documented headers, and a body that the documented schema and example agree with. */
function holdAgainst(t: Test, answer: Reply, status: number, example = 'example'): void {
  t.equal(answer.status, status);
  const listed = OPERATION.responses[String(status)];
  if (listed === undefined) return void t.fail(`the document has no ${status}`);
  for (const name of Object.keys(listed.headers ?? {}))
    t.ok(answer.headers.has(name.toLowerCase()), `${status} has ${name}`);
  if (status === 200) return;
  const examples = new Map(examplesOf(listed.content['application/json']));
  t.strictSame(JSON.parse(answer.body), examples.get(example));
}

t.test('the document and the running service', async (t) => {
  const server = await startServer(t, {
    env: { ACUITY_BODY_MAX_BYTES: '100000' },
    keys: [{ kind: 'demo', ratePerS: 1, dailyMax: 5 }],
  });
  const limited = server.keys[1]?.key ?? '';
  const KEYED = { 'X-API-Key': server.key };
  const post = ({ body = '{"current_session":{}}', headers }: Sent) =>
    send(server.port, { body, headers: { 'Content-Type': 'application/json', ...headers } });

  await t.test('each request of the document gets scores', async (t) => {
    const documented = OPERATION.responses['200']?.content['application/json'].examples ?? {};
    for (const [name, value] of examplesOf(OPERATION.requestBody.content['application/json'])) {
      const answer = await post({ headers: KEYED, body: JSON.stringify(value) });
      holdAgainst(t, answer, 200);
      const others = name in SHIPPED.recordings ? 'recording' : 'baseline';
      const expected = (documented[name] ?? documented[others])?.value as object;
      t.strictSame(Object.keys(JSON.parse(answer.body) as object), Object.keys(expected));
    }
  });

  await t.test('each refusal that a caller can bring about is the documented one', async (t) => {
    const refusals: readonly (readonly [status: number, sent: Sent, example?: string])[] = [
      [400, { headers: KEYED, body: MALFORMED_EXAMPLE.body }],
      [422, { headers: KEYED, body: JSON.stringify(UNPROCESSABLE_EXAMPLE.body) }],
      [401, {}, 'keyMissing'],
      [403, { headers: { 'X-API-Key': 'sk_live_no' } }, 'keyInvalid'],
      [413, { headers: KEYED, body: ' '.repeat(100_001) }, 'bodyTooLarge'],
      [415, { headers: { ...KEYED, 'Content-Type': 'text/plain' } }, 'contentType'],
      [415, { headers: { ...KEYED, 'Content-Encoding': 'gzip' } }, 'contentEncoding'],
    ];
    for (const [status, sent, example] of refusals) holdAgainst(t, await post(sent), status, example);
    const ask = () => post({ headers: { 'X-API-Key': limited } });
    let answer = await ask();
    for (let calls = 0; answer.status === 200 && calls < 50; calls++) answer = await ask();
    holdAgainst(t, answer, 429, 'rateLimited');
  });

  await t.test('the admin port serves the same document', async (t) => {
    const answer = await fetch(`http://127.0.0.1:${server.adminPort}/openapi.json`);
    t.equal(answer.headers.get('content-type'), 'application/json');
    t.strictSame(await answer.json(), DOCUMENT);
  });
});
