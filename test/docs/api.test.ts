import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import * as clientErrors from '#acuity/client/errors.js';
import { errorFor } from '#acuity/client/answer.js';
import {
  FINDING_TYPES,
  FINDINGS_MAX,
  MALFORMED,
  PROBLEMS,
  UNPROCESSABLE,
} from '#acuity/contract/problems.js';
import { PAST_MAX } from '#rules/fields.js';
import { requestSchema, ScoreRecordSchema, sessionSchema } from '#acuity/contract/request.js';
import { PredictionResponseSchema } from '#acuity/contract/response.js';
import { REPOSITORY } from '../fixtures/repository.js';

const [API, ERRORS, SCORES] = ['API', 'ERRORS', 'SCORES'].map((name) =>
  readFileSync(join(REPOSITORY, `docs/${name}.md`), 'utf8'),
) as [string, string, string];

/** The cells of every row of every table. */
function rowsOf(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('|---'))
    .map((line) => line.slice(2, -2).split(' | '));
}

const ROWS = rowsOf(API);

/** The row whose first cell names `name`. */
function rowOf(name: string, rows = ROWS): string[] | undefined {
  return rows.find(([first = '']) => first.split(', ').includes(`\`${name}\``));
}

t.test('every field of the request is explained, with its range', async (t) => {
  for (const name of Object.keys(requestSchema().properties)) t.ok(rowOf(name), name);
  for (const [name, schema] of Object.entries(sessionSchema().properties)) {
    const [, unit = ''] = rowOf(name) ?? [];
    const { minimum, maximum, maxItems } = schema as {
      minimum?: number;
      maximum?: number;
      maxItems?: number;
    };
    if (maximum !== undefined) t.match(unit, `${minimum} to ${maximum}`, name);
    if (maxItems !== undefined) t.match(unit, `at most ${maxItems.toLocaleString('en-US')} samples`, name);
    t.not(unit, '', name);
  }
  t.match(rowOf('past_sessions')?.[1], `up to ${PAST_MAX}`);
});

t.test('every field of the answer is explained', async (t) => {
  for (const name of Object.keys(PredictionResponseSchema.properties)) t.ok(rowOf(name), name);
  const scoreRows = rowsOf(SCORES).map(([first]) => first);
  for (const name of Object.keys(ScoreRecordSchema.properties)) t.ok(scoreRows.includes(`\`${name}\``), name);
});

const ERROR_PAGE_ROWS = rowsOf(ERRORS);
const ERROR_ROWS = ERROR_PAGE_ROWS.filter(([status = '']) => /^\d{3}$/.test(status));

t.test('every refusal is listed with its remedy, and no other', async (t) => {
  const listed = ERROR_ROWS.map(([status, detail, remedy]) => `${status} ${detail} ${remedy}`);
  const catalogue = Object.values(PROBLEMS).map(
    ({ status, detail, remedy }) => `${status} \`${detail}\` ${remedy}`,
  );
  for (const line of catalogue) t.ok(listed.includes(line), line);
  const others = listed.filter((line) => !catalogue.includes(line)).map((line) => Number(line.slice(0, 3)));
  t.strictSame(others, [MALFORMED.status, UNPROCESSABLE.status]);
  for (const { status } of Object.values(PROBLEMS)) t.match(API, new RegExp(`^\\|[^|]*\\b${status}\\b`, 'm'));
});

t.test('the SDK’s error beside each refusal is the one that is thrown', async (t) => {
  for (const [status, detail = '', , error] of ERROR_ROWS) {
    const refusal = {
      status: Number(status),
      detail: detail.replaceAll('`', ''),
      findings: [],
      requestId: '',
      retryAfterS: undefined,
      limit: undefined,
      headers: {},
    };
    t.equal(`\`${errorFor(refusal).name}\``, error?.split(';')[0]);
  }
  for (const name of Object.keys(clientErrors).filter((name) => name.endsWith('Error')))
    t.match(ERRORS, `\`${name}\``);
});

t.test('every type of a finding has a remedy', async (t) => {
  for (const type of FINDING_TYPES) t.ok((rowOf(type, ERROR_PAGE_ROWS)?.[2] ?? '').length > 8, type);
  t.match(ERRORS, `up to ${FINDINGS_MAX} findings`);
});
