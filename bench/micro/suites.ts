import { FEATURISE } from './featurise.js';
import { GATE } from './gate.js';
import type { Suite } from './harness.js';
import { HOP } from './hop.js';
import { METRICS_SUITE } from './metrics.js';
import { READ } from './read.js';
import { RESPOND } from './respond.js';
import { SESSION } from './session.js';
import { VALIDATE } from './validate.js';

/** In the order in which a request meets them. */
export const SUITES: readonly Suite[] = [
  GATE,
  READ,
  VALIDATE,
  FEATURISE,
  HOP,
  SESSION,
  RESPOND,
  METRICS_SUITE,
];
