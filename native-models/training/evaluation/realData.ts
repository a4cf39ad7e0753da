import type { Context } from './context.js';
import { lifesnaps } from './real/lifesnaps.js';
import { boas, nhanes } from './real/norms.js';
import { sleepstudy } from './real/sleepstudy.js';
import { stressPredict } from './real/stressPredict.js';
import { compared, type NamedFinding } from './real/validationData.js';
import type { Section } from './section.js';

/** Point 8: the cohort and the scores held against open data of real people, where these are at hand. */
export async function realData(context: Context): Promise<Section> {
  const parts = await compared((folder) => findings(folder, context));
  const short = parts.demands.filter(({ holds }) => holds === false);
  return {
    number: 8,
    title: 'Real data',
    about: 'Are the simulated people like real ones, and do scores follow real diaries and experiments?',
    ...parts,
    notes: [
      ...REASONS.filter(({ of }) => short.some((one) => of.test(one.demand))).map(({ text }) => text),
      'The tolerances are this evaluation’s own. Three values of the cohort were set on seeing these data, so three comparisons are fits, not tests. The age at which the resting heart rate peaks: 50 in the literature, 45 here, since NHANES by age had missed its tolerance. The spread of the sleeping heart rate from night to night: 2.7 before, 3 here, since LifeSnaps had missed its tolerance. What lost sleep does to attention: within the interval of a meta-analysis, towards the larger falls of sleepstudy. The weight of windows with rated labels in training was raised after a first look at the diaries of LifeSnaps, so that comparison is not blind either.',
      'Two demands were struck because a coin passes them: that biometrics alone say little about mood, and that labels are not worse than chance. Labels must now beat a coin.',
      'If you have diaries, compare with the last column of the diary table: the plain mean of a person’s last ratings, which needs no network.',
      'LifeSnaps gives one value a day for each signal, and age in two bands. Series were simulated about these values, as its wrist device gives them: heart rate each minute, one breathing rate a night. Its moods are diary ticks. High valence is happy or rested, Low is sad or tense. High arousal is alert or tense, Low is tired or rested. Days with both or neither are left out. Stress-Predict’s breathing rate is not credible and not used.',
      'Data: LifeSnaps (Yfantidou et al. 2022, CC BY 4.0), sleepstudy (Belenky et al. 2003), Stress-Predict (Iqbal et al. 2022, MIT), NHANES 2009–2012 (public domain), BOAS (OpenNeuro ds005555, CC0).',
    ],
  };
}

/** Why a demand falls short, as far as we know; said where it does. */
const REASONS = [
  {
    of: /LifeSnaps (valence|arousal)/,
    text: 'Why labels fall short: the diaries are ticks of a few words, and sleep and heart rate say little of them. For arousal they say the opposite of what laboratories find: there lost sleep lowers it, here more sleep goes with calm words. The mean of a person’s last ratings is far better than the network.',
  },
  {
    of: /sleepstudy: fall in percentiles/,
    text: 'Why the sizes of sleepstudy are not reached in every night: its reaction times slow down more than meta-analyses of sleep loss say, above all after the first short night. The cohort stays within the interval of the meta-analysis of total deprivation (V26), at the end nearer to sleepstudy.',
  },
] as const;

async function findings(folder: string, context: Context): Promise<NamedFinding[]> {
  return [
    { name: 'LifeSnaps', finding: await lifesnaps(folder, context.model) },
    { name: 'sleepstudy', finding: await sleepstudy(folder, context) },
    { name: 'Stress-Predict', finding: await stressPredict(folder, context.model) },
    { name: 'NHANES', finding: nhanes(folder) },
    { name: 'BOAS', finding: boas(folder) },
  ];
}
