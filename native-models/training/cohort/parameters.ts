/**
 * Every number of the cohort in one table, with where it comes from. Sources are the keys of `sources.ts`;
 * `recalled` is textbook knowledge not checked against a text, `derived` is arithmetic from a source,
 * `assumption` has no source. Score effects are in standard deviations of the score within age and sex.
 */
export interface Parameter {
  readonly value: number;
  readonly unit: string;
  readonly source: string;
  readonly meaning: string;
}

const entry = (value: number, unit: string, source: string, meaning: string): Parameter => ({
  value,
  unit,
  source,
  meaning,
});

export const TABLE = {
  // Person
  ageMin: entry(18, 'years', 'assumption', 'youngest person'),
  ageMax: entry(85, 'years', 'assumption', 'oldest person'),
  ageMean: entry(45, 'years', 'assumption', 'mean of the age distribution before truncation'),
  ageSd: entry(24, 'years', 'assumption', 'its spread: wide, so that old and young are learnt too'),
  heightMen: entry(175.5, 'cm', 'recalled', 'mean height of men'),
  heightWomen: entry(162, 'cm', 'recalled', 'mean height of women'),
  heightSd: entry(7, 'cm', 'recalled', 'spread of height within sex'),
  bmiMedian: entry(26.5, 'kg/m²', 'recalled', 'median body mass index'),
  bmiLnSd: entry(0.19, 'ln', 'recalled', 'spread of its logarithm'),
  drinkers: entry(0.6, 'fraction', 'assumption', 'people who drink at all'),
  drinkingMax: entry(0.5, 'per evening', 'assumption', 'most often; drinkers lie evenly below'),
  longSleeper: entry(0.05, 'fraction', 'assumption', 'people who sleep long by habit without needing it'),
  longSleeperH: entry(1.6, 'h', 'assumption', 'longer than others by'),
  napping: entry(0.25, 'per day', 'V85 derived', 'chance of a nap, mean over people'),
  // Heart rate
  restingHr: entry(65.5, 'bpm', 'V1', 'resting heart rate by wearable'),
  restingHrSd: entry(7.2, 'bpm', 'V1 derived', 'its spread between persons beyond age, sex, BMI'),
  restingHrSex: entry(1.5, 'bpm', 'V4 derived', 'women above, men below the mean by'),
  restingHrAge: entry(-0.0028, 'bpm/year²', 'V1 derived', 'curvature about the age of its peak'),
  restingHrPeak: entry(45, 'years', 'V1, NHANES', 'age of the peak; 50 in V1, lowered on seeing the data'),
  restingHrBmi: entry(0.25, 'bpm per unit', 'recalled', 'slope above a BMI of 25'),
  restingHrVagal: entry(-2.5, 'bpm per SD', 'assumption', 'vagal tone lowers the resting heart rate'),
  sleepingHrOffset: entry(-3, 'bpm', 'recalled', 'sleeping mean against resting'),
  sleepingHrOffsetSd: entry(3, 'bpm', 'recalled', 'its spread between persons'),
  nightHrSd: entry(
    3,
    'bpm',
    'recalled, LifeSnaps',
    'night to night within person; raised from 2.7 on seeing the data',
  ),
  nightHrPersistence: entry(0.4, 'correlation', 'assumption', 'of that deviation from one night to the next'),
  nightHrTension: entry(0.3, 'share of SD', 'assumption', 'part of that deviation that comes from tension'),
  lateNightHr: entry(0.6, 'bpm per hour', 'V16', 'later bedtime raises the sleeping heart rate'),
  overnightFall: entry(4.5, 'bpm', 'recalled, V6', 'fall of the heart rate over the night'),
  dayHrOffset: entry(11.5, 'bpm', 'recalled', 'hour before the prediction against resting'),
  dayHrOffsetSd: entry(3.5, 'bpm', 'recalled', 'its spread between persons'),
  dayHrSd: entry(5, 'bpm', 'assumption', 'day to day within person'),
  dayHrTension: entry(0.5, 'share of SD', 'assumption', 'part of that deviation that comes from tension'),
  dayHrWithin: entry(6.5, 'bpm', 'recalled', 'within the hour, median'),
  nightHrWithin: entry(2.6, 'bpm', 'assumption', 'sample to sample noise at night, median'),
  withinLnSd: entry(0.28, 'ln', 'assumption', 'spread between persons of the two'),
  withinVagal: entry(0.2, 'ln per SD', 'assumption', 'vagal tone makes the series more variable'),
  wakeMoved: entry(0.5, 'fraction', 'assumption', 'of the bouts of waking, with turning or getting up'),
  wakeMovedHr: entry(15, 'bpm', 'assumption', 'faster heart in such a bout'),
  wakeMovedHrSd: entry(5, 'bpm', 'assumption', 'its spread'),
  wakeHr: entry(1.06, 'ratio to REM', 'V7', 'heart rate awake'),
  lightHr: entry(0.98, 'ratio to REM', 'V7', 'heart rate in light sleep'),
  deepHr: entry(0.99, 'ratio to REM', 'V7', 'heart rate in deep sleep'),
  // Breathing
  nightRr: entry(15.4, 'breaths/min', 'V8', 'night mean'),
  nightRrSd: entry(2.15, 'breaths/min', 'V8 derived', 'spread between persons beyond age, sex, BMI'),
  nightRrHr: entry(0.04, 'per bpm', 'V8 derived', 'rises with the sleeping heart rate'),
  nightRrBmi: entry(0.008, 'per unit²', 'V8 derived', 'U-shape of BMI about 25'),
  nightRrAge: entry(-0.008, 'per year', 'V8 derived', 'slight fall with age'),
  nightRrWomen: entry(0.5, 'breaths/min', 'V8 derived', 'women above men below age 50'),
  nightRrCv: entry(0.05, 'ratio', 'V8 derived', 'median within-person coefficient of variation, young'),
  nightRrCvAge: entry(0.004, 'ln per year', 'V8 derived', 'its growth with age'),
  nightRrCvLnSd: entry(0.45, 'ln', 'V8 derived', 'its spread between persons'),
  dayRr: entry(16, 'breaths/min', 'recalled', 'hour before the prediction'),
  dayRrSd: entry(2.2, 'breaths/min', 'recalled', 'spread between persons'),
  dayRrDaySd: entry(1.3, 'breaths/min', 'assumption', 'day to day within person'),
  dayRrWithin: entry(2, 'breaths/min', 'recalled', 'within the hour'),
  dayRrTension: entry(
    0.35,
    'share of SD',
    'V52 derived',
    'part of the daily deviation that comes from tension',
  ),
  wakeRr: entry(1.02, 'ratio to REM', 'V7', 'breathing awake'),
  lightRr: entry(0.95, 'ratio to REM', 'V7', 'breathing in light sleep'),
  deepRr: entry(0.92, 'ratio to REM', 'V7', 'breathing in deep sleep'),
  // Sleep
  sleepH: entry(6.75, 'h', 'V9, V10', 'habitual time asleep at 45'),
  sleepWomenH: entry(0.2, 'h', 'V9', 'women above, men below by'),
  sleepDecadeH: entry(-0.168, 'h per decade', 'V13', 'change with age'),
  sleepSdH: entry(0.8, 'h', 'recalled', 'spread between persons'),
  sleepBmiH: entry(-0.025, 'h per unit', 'recalled', 'slope above a BMI of 25'),
  sleepDaySdH: entry(1.2, 'h', 'V11, V12', 'night to night within person'),
  sleepWeekendH: entry(0.6, 'h', 'assumption', 'longer on the two free nights of a week'),
  sleepRebound: entry(0.12, 'h per h', 'assumption', 'longer after a short night'),
  shortStart: entry(
    0.012,
    'per day',
    'assumption',
    'chance that a run of short nights begins: work, travel, a child',
  ),
  shortEnd: entry(0.25, 'per day', 'assumption', 'chance that it ends'),
  shortInBedH: entry(4.75, 'h', 'assumption', 'in bed in such a night'),
  shortInBedSdH: entry(0.8, 'h', 'assumption', 'its spread'),
  sleepless: entry(0.003, 'per night', 'assumption', 'nights without any sleep'),
  sleeplessInBed: entry(0.4, 'fraction', 'assumption', 'of these, and of the next, spent awake in bed'),
  scant: entry(0.005, 'per night', 'assumption', 'nights with next to no sleep'),
  scantLeastH: entry(0.25, 'h', 'assumption', 'asleep in such a night, least'),
  scantMostH: entry(3.5, 'h', 'assumption', 'most'),
  longNight: entry(0.006, 'per night', 'assumption', 'very long nights'),
  longLeastH: entry(9.5, 'h', 'assumption', 'asleep in such a night, least'),
  longMostH: entry(13.5, 'h', 'assumption', 'most'),
  napH: entry(0.6, 'h', 'assumption', 'length of a nap, median'),
  napLnSd: entry(0.5, 'ln', 'assumption', 'its spread'),
  napMissed: entry(0.3, 'per h', 'assumption', 'more naps for each hour missed at night'),
  napRebound: entry(0.3, 'h per h', 'assumption', 'shorter night after a nap'),
  needH: entry(7.7, 'h', 'assumption', 'mean sleep need at 45; falls with age as habitual sleep does'),
  needSdH: entry(0.45, 'h', 'assumption', 'its spread beyond what goes with habit'),
  needHabit: entry(0.35, 'h per h', 'assumption', 'longer sleepers need more'),
  efficiency: entry(0.885, 'fraction', 'V14 derived', 'at 45'),
  efficiencyDecade: entry(-0.021, 'per decade', 'V13', 'change with age'),
  efficiencySd: entry(0.035, 'fraction', 'assumption', 'spread between persons'),
  efficiencyDaySd: entry(0.045, 'fraction', 'V11', 'night to night within person'),
  efficiencyRestriction: entry(0.018, 'per h', 'recalled', 'rise for each hour less in bed'),
  deepShare: entry(0.16, 'fraction', 'recalled', 'at 45, as wearables report'),
  deepDecade: entry(-0.01, 'per decade', 'V14 derived', 'change with age'),
  deepWomen: entry(0.01, 'fraction', 'V15 derived', 'women above, men below by'),
  deepSd: entry(0.028, 'fraction', 'recalled', 'spread between persons'),
  deepDaySd: entry(0.028, 'fraction', 'recalled', 'night to night'),
  deepDefence: entry(-0.5, 'exponent', 'recalled', 'deep share ~ (time asleep / habit) to this power'),
  remShare: entry(0.21, 'fraction', 'recalled', 'as wearables report'),
  remDecade: entry(-0.007, 'per decade', 'V14 derived', 'change with age'),
  remSd: entry(0.035, 'fraction', 'recalled', 'spread between persons'),
  remDaySd: entry(0.035, 'fraction', 'recalled', 'night to night'),
  remLoss: entry(0.3, 'exponent', 'recalled', 'REM share ~ (time asleep / habit) to this power'),
  // States
  tensionPersistence: entry(0.5, 'correlation', 'assumption', 'of tension from day to day'),
  illnessStart: entry(0.006, 'per day', 'assumption', 'chance of falling ill'),
  illnessEnd: entry(0.3, 'per day', 'assumption', 'chance of recovering'),
  illnessHr: entry(5, 'bpm', 'assumption', 'rise of the heart rate while ill'),
  illnessRr: entry(2, 'breaths/min', 'assumption', 'rise of breathing while ill'),
  feverStart: entry(0.0025, 'per day', 'assumption', 'chance that a fever begins'),
  feverLeastC: entry(0.8, '°C', 'assumption', 'at its height, least'),
  feverMostC: entry(2.2, '°C', 'assumption', 'most'),
  feverDay: entry(0.82, 'ratio', 'assumption', 'from one day to the next: a week until it is gone'),
  feverHr: entry(7.2, 'bpm/°C', 'V82', 'rise of the heart rate'),
  feverRr: entry(1.8, 'breaths/min/°C', 'V82', 'rise of breathing, between 1.4 over all and 2.3 above 38 °C'),
  alcoholHr: entry(
    4,
    'bpm per dose',
    'V83, V84 derived',
    'rise of the sleeping heart rate, a moderate evening',
  ),
  alcoholDeep: entry(0.07, 'ratio per dose', 'V83', 'deep and REM sleep lost'),
  alcoholAwake: entry(0.02, 'fraction per dose', 'assumption', 'efficiency lost'),
  drinksFree: entry(1.8, 'ratio', 'assumption', 'more often in front of a free night'),
  // Device
  deviceChange: entry(0.01, 'per day', 'assumption', 'another device, or another firmware'),
  sleepBiasSdH: entry(0.3, 'h', 'V23, V25 derived', 'bias of a device on time asleep'),
  stageBiasSd: entry(0.02, 'fraction', 'V23, V25 derived', 'bias of a device on a stage share'),
  halfLost: entry(0.05, 'per night', 'assumption', 'half of the night series lost'),
  wildSeries: entry(0.15, 'per series', 'assumption', 'one wild sample: motion, or the cadence of a step'),
  wildHrLeast: entry(140, 'bpm', 'assumption', 'such a sample, least'),
  wildHrMost: entry(200, 'bpm', 'assumption', 'most'),
  wildRrLeast: entry(35, 'breaths/min', 'assumption', 'such a sample, least'),
  wildRrMost: entry(60, 'breaths/min', 'assumption', 'most'),
  sleeplessKept: entry(0.3, 'fraction', 'assumption', 'of nights awake in bed, with series'),
  sleeplessUnsaid: entry(0.2, 'fraction', 'assumption', 'of nights without sleep, without any word of it'),
  napsCounted: entry(0.25, 'fraction', 'assumption', 'of devices, naps added to the night'),
  sleepErrorH: entry(0.4, 'h', 'V24, V25 derived', 'error of time asleep'),
  stageShrink: entry(0.75, 'slope', 'V24', 'short deep sleep over-read, long under-read'),
  stageErrorShare: entry(0.025, 'fraction', 'V23 derived', 'error of a stage share'),
  hrBiasSd: entry(1, 'bpm', 'V22 derived', 'bias of a device on a person'),
  hrErrorSd: entry(1.5, 'bpm', 'V22 derived', 'error of a sample'),
  rrBiasSd: entry(0.35, 'breaths/min', 'V8, V21', 'bias of a device on a person'),
  rrErrorSd: entry(0.65, 'breaths/min', 'V8', 'error of a sample'),
  burstShareMin: entry(0.05, 'fraction', 'assumption', 'least share of samples missing'),
  burstShareMax: entry(0.15, 'fraction', 'assumption', 'most'),
  burstMin: entry(6, 'min', 'assumption', 'mean length of a gap'),
  nightLost: entry(0.12, 'fraction', 'assumption', 'nights without a recording'),
  dayLost: entry(0.06, 'fraction', 'assumption', 'days without a recording'),
  // Noise of the scores
  traitShare: entry(0.55, 'variance share', 'V44 derived', 'stable between persons beyond all causes'),
  moodTraitShare: entry(0.3, 'variance share', 'assumption', 'the same for valence and arousal'),
  vulnerabilitySd: entry(0.6, 'of the mean effect', 'V34', 'between persons, of the effect of lost sleep'),
  valenceHrSd: entry(
    0.03,
    'SD per bpm',
    'V60, V61 assumption',
    'person slope of valence on heart rate, mean 0',
  ),
  referenceLapses: entry(7.5, 'lapses', 'V64 derived', '5 nights of 4 h against 8 h, daytime mean'),
  fatigueAge: entry(-0.004, 'ratio per year', 'V77–V81 derived', 'older people lose less; none at 45'),
  awakeMostH: entry(2, 'h', 'assumption', 'time awake against habit that counts, most'),
  // Attention
  attentionFatigue: entry(
    -0.75,
    'SD per reference',
    'V26, sleepstudy',
    'five nights of 4 h against 8 h; a night without sleep then costs −.9, in the interval of V26 (−.96 to −.60) and nearer to the larger falls of sleepstudy than its mean of −.776: set on seeing the data',
  ),
  attentionAwake: entry(-0.06, 'SD per 30 min', 'V40', 'awake at night, against habit'),
  attentionEfficiency: entry(0.09, 'SD per SD', 'assumption', 'habitual efficiency within age and sex'),
  attentionVagal: entry(0.07, 'SD per SD', 'V41 derived', 'vagal tone'),
  attentionRestingHr: entry(-0.04, 'SD per SD', 'recalled', 'resting heart rate'),
  attentionBmi: entry(-0.014, 'SD per unit', 'V42 assumption', 'BMI above 25, to 40'),
  attentionHabit: entry(-0.012, 'SD per h²', 'V37 assumption', 'habitual sleep below 7.5 h, to 3.5 h'),
  attentionLong: entry(-0.09, 'SD per h', 'V75, V76 derived', 'week of sleep beyond need, to 2 h'),
  attentionLongNight: entry(-0.01, 'SD per h', 'V75 assumption', 'last night beyond need, to 5 h'),
  // Memory
  memoryFatigue: entry(-0.22, 'SD per reference', 'V27, V28', 'five nights of 4 h against 8 h'),
  memoryDeep: entry(0.07, 'SD per SD', 'V39 assumption', 'deep share against habit, at 18; none at 85'),
  memoryAwake: entry(-0.1, 'SD per 30 min', 'V39, V40 assumption', 'awake at night, at 85; none at 18'),
  memoryEfficiency: entry(0.12, 'SD per SD', 'V38 assumption', 'habitual efficiency, at 85; half at 18'),
  memoryVagal: entry(0.06, 'SD per SD', 'V41 assumption', 'vagal tone'),
  memoryBmi: entry(-0.012, 'SD per unit', 'V42 assumption', 'BMI above 25, to 40'),
  memoryHabit: entry(-0.004, 'SD per h²', 'V37 assumption', 'habitual sleep below 7.5 h, to 3.5 h'),
  memoryLong: entry(-0.09, 'SD per h', 'V75, V76 derived', 'week of sleep beyond need, to 2 h'),
  memoryLongNight: entry(-0.01, 'SD per h', 'V75 assumption', 'last night beyond need, to 5 h'),
  // Reasoning
  reasoningFatigue: entry(-0.11, 'SD per reference', 'V26', 'five nights of 4 h against 8 h'),
  reasoningEfficiency: entry(0.06, 'SD per SD', 'assumption', 'habitual efficiency'),
  reasoningVagal: entry(0.08, 'SD per SD', 'V41 derived', 'vagal tone'),
  reasoningBmi: entry(-0.012, 'SD per unit', 'V42 assumption', 'BMI above 25, to 40'),
  reasoningHabit: entry(
    -0.015,
    'SD per h²',
    'V37 derived',
    'habitual sleep below 7.5 h, to 3.5 h: at 4 h eight years of ageing',
  ),
  reasoningLong: entry(-0.09, 'SD per h', 'V75, V76 derived', 'week of sleep beyond need, to 2 h'),
  reasoningLongNight: entry(-0.01, 'SD per h', 'V75 assumption', 'last night beyond need, to 5 h'),
  // Stress
  stressSleep: entry(-0.17, 'SD per h', 'V45 derived', 'week of sleep against age and sex'),
  stressFatigue: entry(0.2, 'SD per reference', 'V55 derived', 'five nights of 4 h against 8 h'),
  stressDayHr: entry(0.016, 'SD per bpm', 'V45 derived', 'day heart rate against habit'),
  stressNightHr: entry(0.025, 'SD per bpm', 'V45 derived', 'night heart rate against habit'),
  stressRestingHr: entry(0.003, 'SD per bpm', 'V48', 'habitual heart rate: next to none'),
  stressNightRr: entry(0.1, 'SD per breath', 'V45 derived', 'night breathing against habit'),
  stressDayRr: entry(0.03, 'SD per breath', 'V52 assumption', 'day breathing against habit'),
  stressAwake: entry(0.05, 'SD per 30 min', 'assumption', 'awake at night, against habit'),
  // Valence and arousal
  valenceSleep: entry(0.08, 'SD per h', 'V57, V58', 'last night against habit'),
  valenceFatigue: entry(-0.3, 'SD per reference', 'V55, V56', 'five nights of 4 h against 8 h'),
  valenceAwake: entry(-0.08, 'SD per 30 min', 'V59', 'awake at night, against habit'),
  valenceEfficiency: entry(0.1, 'SD per SD', 'V59 assumption', 'habitual efficiency'),
  valenceIllness: entry(-0.15, 'SD per breath', 'assumption', 'night breathing above habit by more than one'),
  arousalDayHr: entry(0.045, 'SD per bpm', 'V60 derived', 'day heart rate against habit'),
  arousalDayRr: entry(0.09, 'SD per breath', 'V52 derived', 'day breathing against habit'),
  arousalFatigue: entry(-0.4, 'SD per reference', 'V55', 'five nights of 4 h against 8 h'),
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof TABLE;
export type Parameters = Readonly<Record<ParameterName, number>>;

/** The effects that the assumption check halves and doubles: whatever moves a score. */
const SCORE_EFFECT = /^(attention|memory|reasoning|stress|valence|arousal)/;
const NOT_AN_EFFECT = /HrSd$/;

/** The values of the table; effects on the scores scaled by `effectScale`. */
export function parameters(effectScale = 1): Parameters {
  const scaled = Object.entries(TABLE).map(([name, { value }]) => [
    name,
    SCORE_EFFECT.test(name) && !NOT_AN_EFFECT.test(name) ? value * effectScale : value,
  ]);
  return Object.fromEntries(scaled) as Parameters;
}

/**
 * What is rare in life is drawn more often for training: a network can't learn what it meets a dozen times. What such
 * a day does to a score stays the same, and everybody who is judged lives at the rates of the table.
 */
export function trainingRates(p: Parameters): Partial<Parameters> {
  const often = 3;
  return {
    sleepless: often * p.sleepless,
    scant: often * p.scant,
    longNight: often * p.longNight,
    feverStart: often * p.feverStart,
    deviceChange: often * p.deviceChange,
  };
}
