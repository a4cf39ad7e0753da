import type { Section } from '../section.js';

/** What one set of real data shows; undefined where the data are not there. */
export type RealFinding = Pick<Section, 'demands' | 'tables' | 'figures' | 'decisive'>;
