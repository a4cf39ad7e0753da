import { FORMS_SUITE } from './forms.js';
import { FEATURISE } from './featurise.js';
import { AUTHENTICATE } from './authenticate.js';
import type { Suite } from './harness.js';
import { DISPATCH } from './dispatch.js';
import { METRICS_SUITE } from './metrics.js';
import { READ } from './read.js';
import { RESPOND } from './respond.js';
import { EXPLAIN } from './explain.js';
import { SESSION } from './session.js';

/** In the order in which a request meets them. */
export const SUITES: readonly Suite[] = [
  AUTHENTICATE,
  READ,
  FORMS_SUITE,
  FEATURISE,
  DISPATCH,
  SESSION,
  EXPLAIN,
  RESPOND,
  METRICS_SUITE,
];
