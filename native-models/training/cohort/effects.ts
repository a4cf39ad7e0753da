import type { Day } from './day.js';
import type { Parameters } from './parameters.js';
import { clamp, type Person } from './person.js';

const MIDDLE_AGE = 45;

/** The outcomes of a day, in the order of every tensor of the cohort. */
export const OUTCOMES = ['attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'] as const;
export const OUTCOME_COUNT = OUTCOMES.length;

/**
 * The effects of the day's causes on each outcome, in SD of the score. `mean` is the average effect; `slope` is what
 * one SD of a person's own susceptibility adds (to lost sleep; for valence, to heart rate). Direct effects of age and
 * sex on a raw score are left out: the comparison within age and sex removes them.
 */
export class Effects {
  readonly mean = new Float64Array(OUTCOME_COUNT);
  readonly slope = new Float64Array(OUTCOME_COUNT);

  constructor(private readonly p: Parameters) {}

  of(person: Person, day: Day): this {
    const { p } = this;
    const fatigue = (day.lapses / p.referenceLapses) * (1 + p.fatigueAge * (person.age - MIDDLE_AGE));
    const awake = day.awakeAgainstHabitH * 2;
    const over = clamp(person.bmi, 25, 40) - 25;
    const habit = clamp(7.5 - person.sleepH, 0, 3.5) ** 2;
    const long = Math.min(day.weekBeyondNeedH, 3);
    const longNight = Math.min(day.beyondNeedH, 5);
    const old = clamp((person.age - 18) / 67, 0, 1);
    const { vagal, efficiencyZ } = person;
    this.mean[0] =
      p.attentionFatigue * fatigue + p.attentionAwake * awake + p.attentionEfficiency * efficiencyZ + p.attentionVagal * vagal + p.attentionRestingHr * person.restingHrZ + p.attentionBmi * over + p.attentionHabit * habit + p.attentionLong * long + p.attentionLongNight * longNight; // prettier-ignore
    this.mean[1] =
      p.memoryFatigue * fatigue + p.memoryDeep * (1 - old) * day.deepZ + p.memoryAwake * old * awake + p.memoryEfficiency * (0.5 + 0.5 * old) * efficiencyZ + p.memoryVagal * vagal + p.memoryBmi * over + p.memoryHabit * habit + p.memoryLong * long + p.memoryLongNight * longNight; // prettier-ignore
    this.mean[2] =
      p.reasoningFatigue * fatigue + p.reasoningEfficiency * efficiencyZ + p.reasoningVagal * vagal + p.reasoningBmi * over + p.reasoningHabit * habit + p.reasoningLong * long + p.reasoningLongNight * longNight; // prettier-ignore
    this.mean[3] =
      p.stressSleep * (day.weekAsleepH - day.weekBeyondNeedH - person.sleepH + person.sleepAgainstGroupH) + p.stressLong * Math.min(day.weekBeyondNeedH, 4) + p.stressFatigue * fatigue + p.stressDayHr * day.dayHrDeviation + p.stressNightHr * day.nightHrDeviation + p.stressRestingHr * (person.restingHr - p.restingHr) + p.stressNightRr * day.nightRrDeviation + p.stressDayRr * day.dayRrDeviation + p.stressAwake * awake; // prettier-ignore
    this.mean[4] =
      p.valenceSleep * clamp(day.asleepH - person.sleepH, -4, 2.5) + p.valenceFatigue * fatigue + p.valenceAwake * awake + p.valenceEfficiency * efficiencyZ + p.valenceIllness * Math.max(0, day.nightRrDeviation - 1); // prettier-ignore
    this.mean[5] =
      p.arousalDayHr * day.dayHrDeviation + p.arousalDayRr * day.dayRrDeviation + p.arousalFatigue * fatigue;
    this.writeSlopes(fatigue, day);
    return this;
  }

  private writeSlopes(fatigue: number, day: Day): void {
    const { p } = this;
    // Susceptibility acts on what was lost compared with a rested day.
    const lost = fatigue * p.vulnerabilitySd;
    this.slope[0] = p.attentionFatigue * lost;
    this.slope[1] = p.memoryFatigue * lost;
    this.slope[2] = p.reasoningFatigue * lost;
    this.slope[3] = p.stressFatigue * lost;
    this.slope[4] = p.valenceHrSd * day.dayHrDeviation;
    this.slope[5] = 0;
  }
}
