/** What an experiment does to a day; absent means: as the person lives. */
export interface Intervention {
  readonly inBedH?: number;
  /** Sleep of just this length, 0 for a night without any. */
  readonly asleepH?: number;
  readonly addAwakeH?: number;
  readonly addNightHr?: number;
  readonly addDayHr?: number;
  readonly addRr?: number;
  readonly addDayRr?: number;
}
