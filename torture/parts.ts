import { clients } from './clients.js';
import { faults } from './faults.js';
import { input } from './input.js';
import { mixup } from './mixup.js';
import { overload } from './overload.js';
import type { Part } from './part.js';
import { patience } from './patience.js';
import { rawHttp } from './rawHttp.js';
import { smuggle } from './smuggle.js';
import { soak } from './soak.js';

/** In the order of the table. */
export const PARTS: readonly Part[] = [
  clients,
  input,
  rawHttp,
  overload,
  patience,
  mixup,
  smuggle,
  faults,
  soak,
];
