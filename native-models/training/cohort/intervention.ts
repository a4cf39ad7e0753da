/** What an experiment changes in a day; absent fields stay as the person lives. */
export interface Intervention {
  readonly inBedH?: number;
  /** Sleep of exactly this length; 0 for a night without sleep. */
  readonly asleepH?: number;
  readonly addAwakeH?: number;
  readonly addNightHr?: number;
  readonly addDayHr?: number;
  readonly addRr?: number;
}
