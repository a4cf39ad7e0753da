import type { SessionFrame } from '#acuity/contract/request.js';
import type { Day } from './day.js';
import type { Device } from './devices.js';
import type { Parameters } from './parameters.js';
import { clamp } from './person.js';
import type { Random } from './random.js';

/** A shorter night, in seconds, could be taken for one in minutes: devices don't report it as a night. */
const ASLEEP_LEAST_H = 0.22;

/** The night's stages as the device estimates and formats them. */
export function sleepFields(day: Day, device: Device, p: Parameters, random: Random): SessionFrame {
  const shrink = (share: number, centre: number, bias: number): number =>
    clamp(centre + bias + p.stageShrink * (share - centre) + random.normal(0, p.stageErrorShare), 0.005, 0.6);
  const error = device.sleepBiasH + random.normal(0, p.sleepErrorH);
  const awakeError = random.normal(0, 0.08);
  const deep = shrink(day.deepShare, 0.15, device.deepBias);
  const rem = shrink(day.remShare, 0.2, device.remBias);
  if (day.asleepH === 0) return sleeplessFields(day, p, random);
  // In a short night a device's error is at most the night itself.
  const asleepH = Math.max(ASLEEP_LEAST_H, day.asleepH + error * Math.min(1, day.asleepH / 3));
  const napH = device.countsNaps ? day.napH : 0;
  const awakeH = clamp(day.awakeH - 0.4 * (asleepH - day.asleepH) + awakeError, 0.02, 8);
  const deepS = wholeMinutes(asleepH * deep);
  const remS = wholeMinutes(asleepH * rem);
  const lightS = wholeMinutes(asleepH * (1 - deep - rem) + napH);
  const awakeS = wholeMinutes(awakeH);
  const totalS = deepS + remS + lightS;
  const share = (seconds: number): number =>
    Math.round(((device.hasPercentPoints ? 100 : 1) * 1000 * seconds) / totalS) / 1000;
  return {
    sleepTimeSeconds: totalS + (device.isTotalWithAwake ? awakeS : 0),
    deepSleepSeconds: deepS,
    remSleepSeconds: remS,
    lightSleepSeconds: lightS,
    awakeSleepSeconds: awakeS,
    deepPercentage: share(deepS),
    remPercentage: share(remS),
    lightPercentage: share(lightS),
  };
}

/** Zeros, with all, some or none of the time in bed as time awake; sometimes nothing at all. */
function sleeplessFields(day: Day, p: Parameters, random: Random): SessionFrame {
  if (random.chance(p.sleeplessUnsaid)) return {};
  return {
    sleepTimeSeconds: 0,
    deepSleepSeconds: 0,
    remSleepSeconds: 0,
    lightSleepSeconds: 0,
    awakeSleepSeconds: wholeMinutes(day.awakeH * clamp(1.6 * random.uniform() - 0.3, 0, 1)),
  };
}

/** Seconds, in whole minutes. */
function wholeMinutes(hours: number): number {
  return Math.round(hours * 60) * 60;
}
