import type { Day } from './day.js';
import type { Parameters } from './parameters.js';
import { clamp, type Person } from './person.js';

/** The outcomes of a day, in the order of every tensor of the cohort. */
export const OUTCOMES = ['attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'] as const;
export const OUTCOME_COUNT = OUTCOMES.length;

/**
 * What the day's causes do to each outcome, in SD of the score. `mean` holds for everybody; `slope` is what
 * one SD of a person's own susceptibility adds (to lost sleep; for valence, to heart rate); `age` is the raw
 * score's dependence on age and sex, which the comparison within age and sex takes out.
 */
export class Effects {
  readonly mean = new Float64Array(OUTCOME_COUNT);
  readonly slope = new Float64Array(OUTCOME_COUNT);
  readonly age = new Float64Array(OUTCOME_COUNT);

  constructor(private readonly p: Parameters) {}

  of(person: Person, day: Day): this {
    const { p } = this;
    const fatigue = day.lapses / p.referenceLapses;
    const awake = day.awakeAgainstHabitH * 2;
    const over = clamp(person.bmi, 25, 40) - 25;
    const habit = clamp(person.sleepH - 7.5, -3.5, 3.5) ** 2;
    const old = clamp((person.age - 18) / 67, 0, 1);
    const { vagal, efficiencyZ } = person;
    this.mean[0] =
      p.attentionFatigue * fatigue + p.attentionAwake * awake + p.attentionEfficiency * efficiencyZ + p.attentionVagal * vagal + p.attentionRestingHr * person.restingHrZ + p.attentionBmi * over + p.attentionHabit * habit; // prettier-ignore
    this.mean[1] =
      p.memoryFatigue * fatigue + p.memoryDeep * (1 - old) * day.deepZ + p.memoryAwake * old * awake + p.memoryEfficiency * (0.5 + 0.5 * old) * efficiencyZ + p.memoryVagal * vagal + p.memoryBmi * over + p.memoryHabit * habit; // prettier-ignore
    this.mean[2] =
      p.reasoningFatigue * fatigue + p.reasoningEfficiency * efficiencyZ + p.reasoningVagal * vagal + p.reasoningBmi * over + p.reasoningHabit * habit; // prettier-ignore
    this.mean[3] =
      p.stressSleep * (day.weekAsleepH - person.sleepH + person.sleepAgainstGroupH) + p.stressFatigue * fatigue + p.stressDayHr * day.dayHrDeviation + p.stressNightHr * day.nightHrDeviation + p.stressRestingHr * (person.restingHr - p.restingHr) + p.stressNightRr * day.nightRrDeviation + p.stressDayRr * day.dayRrDeviation + p.stressAwake * awake; // prettier-ignore
    this.mean[4] =
      p.valenceSleep * clamp(day.asleepH - person.sleepH, -4, 2.5) + p.valenceFatigue * fatigue + p.valenceAwake * awake + p.valenceEfficiency * efficiencyZ + p.valenceIllness * Math.max(0, day.nightRrDeviation - 1); // prettier-ignore
    this.mean[5] =
      p.arousalDayHr * day.dayHrDeviation + p.arousalDayRr * day.dayRrDeviation + p.arousalFatigue * fatigue;
    this.writeSlopes(fatigue, day);
    this.writeAge(person);
    return this;
  }

  private writeSlopes(fatigue: number, day: Day): void {
    const { p } = this;
    // Susceptibility acts on what was lost against a rested day.
    const lost = fatigue * p.vulnerabilitySd;
    this.slope[0] = p.attentionFatigue * lost;
    this.slope[1] = p.memoryFatigue * lost;
    this.slope[2] = p.reasoningFatigue * lost;
    this.slope[3] = p.stressFatigue * lost;
    this.slope[4] = p.valenceHrSd * day.dayHrDeviation;
    this.slope[5] = 0;
  }

  private writeAge(person: Person): void {
    const { p } = this;
    const adultYears = person.age - 18;
    this.age[0] = p.attentionAge * (person.age - 45);
    this.age[1] = p.memoryAge * adultYears ** 2;
    this.age[2] = p.reasoningAge * adultYears ** 2;
    this.age[3] = p.stressAge * (person.age - 45) + p.stressWomen * (person.sex === 'F' ? 1 : -1);
    this.age[4] = 0;
    this.age[5] = 0;
  }
}
