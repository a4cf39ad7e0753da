import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadBundle } from '#acuity/model/bundle.js';
import { LIKELY } from '#rules/unlikely.js';
import { CONTRIBUTOR_GROUPS } from '#acuity/contract/explanation.js';
import { explanationOf } from '#acuity/pipeline/explanation.js';
import { qualityOf } from '#acuity/pipeline/quality.js';
import { createReader, isBodyProblem } from '#acuity/reading/read.js';
import { respond, withField } from '#acuity/pipeline/respond.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { ExplainedModel } from '#training/explained.js';
import { ServedModel } from '#training/served.js';
import { REPOSITORY } from '../fixtures/repository.js';

const MODEL = join(REPOSITORY, 'native-models/acuity-base');
const page = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');
const PAGE = page('docs/EXPLAIN.md');
const SAVED = JSON.parse(page('docs/examples/explained.json')) as { inference_time_ms: number };

t.test('the saved answer is what the shipped network answers', async (t) => {
  const bundle = await loadBundle(MODEL);
  if (bundle.explain === undefined) throw new Error('the shipped network explains');
  const { graph, table } = bundle.explain;
  const explained = await ExplainedModel.open(await ServedModel.open(MODEL), graph, table);
  const request = createReader(DEFAULT_SERIES_LIMITS)(Buffer.from(page('docs/examples/explain.json')));
  if (isBodyProblem(request)) throw new Error('the example is no request');
  const quality = qualityOf(request);
  const { scores, floats } = await explained.explain(request);
  const plain = respond(scores, 0, SAVED.inference_time_ms, bundle.manifest.thresholds);
  const body = withField(plain, 'explanation', explanationOf({ scores, offset: 0, floats }, quality, table));
  t.strictSame(JSON.parse(body), SAVED);
});

t.test('the page lists every group, and every bound of what is unlikely', async (t) => {
  for (const group of CONTRIBUTOR_GROUPS) t.ok(PAGE.includes(`| \`${group}\``), group);
  const rows = PAGE.split('\n').map((line) => line.split('|').map((cell) => cell.trim()).join('|')); // prettier-ignore
  for (const { field, least, most, unit, of } of LIKELY) {
    t.ok(rows.includes(`|\`${field}\`|${of}|${least} to ${most}|${unit}|`), field);
  }
});
