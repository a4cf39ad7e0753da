import { AUTHENTICATE } from './authenticate.js';
import type { Suite } from './harness.js';
import { METRICS_SUITE } from './metrics.js';
import { FEATURISE, READ, READ_FORMS } from './reading.js';
import { DISPATCH, EXPLAIN, RESPOND, SESSION } from './scoring.js';

/** In the order in which a request meets them. */
export const SUITES: readonly Suite[] = [AUTHENTICATE, READ, READ_FORMS, FEATURISE, DISPATCH, SESSION, EXPLAIN, RESPOND, METRICS_SUITE]; // prettier-ignore
