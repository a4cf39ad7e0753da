import type { Judged } from './context.js';
import { findingsOf } from './real/dataSet.js';
import { lifesnaps } from './real/lifesnaps.js';
import { nhanes } from './real/nhanes.js';
import { pmdata } from './real/pmdata.js';
import { sleepyBrain } from './real/sleepyBrain.js';
import type { Section } from './section.js';

/** Point 8: the scores held against open data of real people, where these are at hand. */
export async function realPeople(judged: Judged): Promise<Section> {
  return {
    number: 8,
    title: 'Real people',
    why: 'Do scores say anything of what real people feel and do on a day? Demands that a coin passes are none, so each says what a coin gets. LifeSnaps and PMData give one value a day for each signal, which is what a series comes to; in PMData a day counts from the sixth rating on. SleepyBrain: the night is told by stages without heart rate, the test came in the evening after. NHANES: unweighted; age and hours count with their squares. No value of the cohort was set on PMData, SleepyBrain and NHANES, of which a third is kept for a later check. Data: LifeSnaps (Yfantidou et al. 2022, CC BY 4.0), PMData (Thambawita et al. 2020, CC BY 4.0), Stockholm Sleepy Brain Study 1 (OpenNeuro ds000201, CC0), NHANES 2011–2014 (public domain).',
    tables: [],
    ...(await findingsOf(process.env['VALIDATION_DATA'] ?? '', {
      LifeSnaps: (folder) => lifesnaps(folder, judged),
      PMData: (folder) => pmdata(folder, judged),
      SleepyBrain: (folder) => sleepyBrain(folder, judged),
      'NHANES 60+': (folder) => nhanes(folder, judged),
    })),
  };
}
