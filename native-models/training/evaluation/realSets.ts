import type { Context } from './context.js';
import { cognition } from './real/cognition.js';
import { pmdata } from './real/pmdata.js';
import { sleepyBrain } from './real/sleepyBrain.js';
import { compared } from './real/validationData.js';
import type { Section } from './section.js';

/** Point 20: open data in which such signals stand beside ratings or tests of the same people. */
export async function realSets(context: Context): Promise<Section> {
  const parts = await compared(async (folder) => [
    { name: 'PMData', finding: await pmdata(folder, context.model) },
    { name: 'SleepyBrain', finding: await sleepyBrain(folder, context.model) },
    { name: 'NHANES 60+', finding: await cognition(folder, context) },
  ]);
  return {
    number: 20,
    title: 'Signals beside ratings and tests in real people',
    about: 'Do scores say anything of what real people feel and do on a day?',
    ...parts,
    notes: [
      'No open set that we found has heart rate, breathing and sleep stages beside tests of cognition in the same people. Some have a part of it. PMData has staged nights, resting heart rate and daily ratings. SleepyBrain has nights in a sleep laboratory and a vigilance test. NHANES has a pulse, hours slept as told, and three tests. No value of the cohort was set on these data.',
      'A coin is what chance gives. Minutes asleep, and a person’s own earlier ratings, need no network. In NHANES each person was tested once, so that there is no earlier value; education is shown in its place, as a measure of size.',
      'PMData: few people, so that the intervals are wide, above all over all days together, where people differ by how they use a scale. All ratings are turned so that higher is better. A day counts from a person’s sixth rating on. The scores have five nights before them and their own past scores. The device’s resting heart rate stands in for the night’s series: the samples are not in the set.',
      'SleepyBrain: the night is told by stages, time asleep and time awake, without heart rate. Age is given in two groups; their middles were sent. The test came in the evening after the night. Only people with both nights measured and both tests are counted. The fall is in percentiles of the full nights’ sessions of the same age group. “No history” sends the night alone; “five full nights” sends the person’s own full night as each of five sessions before.',
      'NHANES: unweighted. Age counts with its square, and so do hours slept, since too little and too much may both be bad. Pulse and hours of other people explain more than nothing, since a fit always finds something: compare with that column. The set says 80 for everybody who is older.',
      'Data: PMData (Thambawita et al. 2020, CC BY 4.0), Stockholm Sleepy Brain Study 1 (OpenNeuro ds000201, CC0), NHANES 2011–2014 (public domain). A third of each set is kept for a later check.',
    ],
  };
}
