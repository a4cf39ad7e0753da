/** One line of a chart, or one colour of its bars. */
export interface Series {
  readonly name: string;
  readonly points: readonly ChartPoint[];
}

/** `spread`: how far repetitions lie apart; bars have whiskers for it. */
export type ChartPoint = readonly [x: number | string, y: number, spread?: Range];

export interface Range {
  readonly min: number;
  readonly max: number;
}
