import type { Context } from './context.js';
import { cognition } from './real/cognition.js';
import { lifesnaps } from './real/lifesnaps.js';
import { pmdata } from './real/pmdata.js';
import { sleepstudy } from './real/sleepstudy.js';
import { sleepyBrain } from './real/sleepyBrain.js';
import { stressPredict } from './real/stressPredict.js';
import { compared } from './real/validationData.js';
import type { Section } from './section.js';

/** Point 8: the scores held against open data of real people, where these are at hand. */
export async function realData(context: Context): Promise<Section> {
  return {
    number: 8,
    title: 'Real data',
    why: 'Do scores follow real diaries and experiments? Demands that a coin passes are none, so each says what a coin gets. LifeSnaps gives one value a day for each signal: series were simulated about these values, as its wrist device gives them; its moods are diary ticks, of which sleep and heart rate say little, and of arousal the opposite of what laboratories find. sleepstudy’s reaction times slow down more than meta-analyses of sleep loss say; the cohort stays within their interval. The size of lost sleep and the weight of rated labels were set on seeing LifeSnaps and sleepstudy: those comparisons are not blind. Data: LifeSnaps (Yfantidou et al. 2022, CC BY 4.0), sleepstudy (Belenky et al. 2003), Stress-Predict (Iqbal et al. 2022, MIT).',
    ...(await compared(async (folder) => [
      { name: 'LifeSnaps', finding: await lifesnaps(folder, context.model) },
      { name: 'sleepstudy', finding: await sleepstudy(folder, context) },
      { name: 'Stress-Predict', finding: await stressPredict(folder, context.model) },
    ])),
  };
}

/** Point 20: open data in which such signals stand beside ratings or tests of the same people. */
export async function realSets({ model }: Context): Promise<Section> {
  return {
    number: 20,
    title: 'Signals beside ratings and tests in real people',
    why: 'Do scores say anything of what real people feel and do on a day? No value of the cohort was set on these data. A coin is what chance gives; minutes asleep, and a person’s own earlier ratings, need no network. PMData: few people, a day counts from the sixth rating on. SleepyBrain: the night is told by stages without heart rate, the test came in the evening after; the fall is in percentiles of the full nights’ sessions of the age group. NHANES: unweighted; age and hours count with their squares. Data: PMData (Thambawita et al. 2020, CC BY 4.0), Stockholm Sleepy Brain Study 1 (OpenNeuro ds000201, CC0), NHANES 2011–2014 (public domain). A third of each set is kept for a later check.',
    ...(await compared(async (folder) => [
      { name: 'PMData', finding: await pmdata(folder, model) },
      { name: 'SleepyBrain', finding: await sleepyBrain(folder, model) },
      { name: 'NHANES 60+', finding: await cognition(folder, model) },
    ])),
  };
}
