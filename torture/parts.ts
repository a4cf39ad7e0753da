import { input } from './input.js';
import { mixup } from './mixup.js';
import type { Part } from './part.js';

/** In the order of the table. */
export const PARTS: readonly Part[] = [input, mixup];
