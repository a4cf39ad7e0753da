import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { shippedParts } from '#acuity/admin/pages.js';
import { MALFORMED, PROBLEMS, UNPROCESSABLE } from '#acuity/contract/problems.js';
import { send } from '../fixtures/connection.js';
import { DOCUMENT, OPERATION, type Media } from '../fixtures/openapi.js';
import { startServer } from '../fixtures/server.js';

const SHIPPED = shippedParts();

t.test('it is an OpenAPI document, all of whose references lead somewhere', async (t) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(DOCUMENT));
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
    for (const kind of kinds) t.ok(named.includes(kind), where);
    if ([type].flat().includes('number')) t.equal(format, 'double', where);
    for (const [name, part] of Object.entries(schema)) look(part, `${where}/${name}`);
  };
  look(DOCUMENT.components.schemas, '');
});

t.test('the operation lists the problems of the catalogue, and nothing else', async (t) => {
  const { notFound, methodNotAllowed, ...ours } = PROBLEMS; // of other paths and methods
  const answers = [{ status: 200 }, MALFORMED, UNPROCESSABLE, ...Object.values(ours)];
  const statuses = answers.map(({ status }) => status);
  t.strictSame(Object.keys(OPERATION.responses), [...new Set(statuses)].sort().map(String));
  for (const { status } of [notFound, methodNotAllowed]) t.notOk(String(status) in OPERATION.responses);
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

t.test('the document and the running service', async (t) => {
  const server = await startServer(t);
  const headers = { 'X-API-Key': server.key, 'Content-Type': 'application/json' };
  const { headers: named, content } = OPERATION.responses['200'] ?? { headers: {}, content: undefined };
  const documented = new Map(content && examplesOf(content['application/json']));

  await t.test(
    'each request of the document gets scores; its refusals are the matter of flow/contract',
    async (t) => {
      for (const [name, value] of examplesOf(OPERATION.requestBody.content['application/json'])) {
        const answer = await send(server.port, { headers, body: JSON.stringify(value) });
        t.equal(answer.status, 200);
        for (const header of Object.keys(named)) t.ok(answer.headers.has(header.toLowerCase()), header);
        const others = name in SHIPPED.recordings ? 'recording' : 'baseline';
        const expected = (documented.get(name) ?? documented.get(others)) as object;
        t.strictSame(Object.keys(JSON.parse(answer.body) as object), Object.keys(expected));
      }
    },
  );

  await t.test('the admin port serves the same document', async (t) => {
    const answer = await fetch(`http://127.0.0.1:${server.adminPort}/openapi.json`);
    t.equal(answer.headers.get('content-type'), 'application/json');
    t.strictSame(await answer.json(), DOCUMENT);
  });
});
