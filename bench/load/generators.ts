import type { Load, Measurement } from '#acuity/load/measurement.js';
import { runOpenLoop } from '#acuity/load/openLoop.js';
import { closedLoopWithAutocannon } from './autocannon.js';
import { hasPaced, openLoopPaced, type PacedLoad } from './paced.js';
import { closedLoopWithWrk, hasWrk } from './wrk.js';

/** As many requests as are answered, by the cheapest generator here. */
export function closedLoop(load: Load): Promise<Measurement> {
  return hasWrk() ? closedLoopWithWrk(load) : closedLoopWithAutocannon(load);
}

/** Requests at a fixed rate, by the cheapest generator here. */
export function openLoop(load: PacedLoad): Promise<Measurement> {
  return hasPaced() ? openLoopPaced(load) : runOpenLoop(load);
}
