import type { CustomSeriesOption } from 'echarts';
import type { Series } from './series.js';

export interface WhiskerStyle {
  readonly ink: string;
  readonly font: string;
  readonly words: (value: number) => string;
  /** As the bars have them: so each whisker finds its bar. */
  readonly gaps: { readonly barGap: string; readonly barCategoryGap: string };
}

const HALF_CAP_PX = 4;

/** A line from the least to the most of each bar's repetitions, and the bar's value above it. */
export function whiskersOf(
  series: readonly Series[],
  { ink, font, words, gaps }: WhiskerStyle,
): CustomSeriesOption[] {
  return series.map(({ points }, index) => ({
    type: 'custom',
    silent: true,
    z: 5,
    // The value again where there are no repetitions: a whisker without length is not drawn.
    data: points
      .filter(([, value]) => Number.isFinite(value))
      .map(([x, value, spread]) => [x, value, spread?.min ?? value, spread?.max ?? value]),
    encode: { x: 0, y: [1, 2, 3] },
    renderItem(_, api) {
      const [value, min, max] = [1, 2, 3].map((column) => Number(api.value(column)));
      const layout = api.barLayout?.({ count: series.length, ...gaps })?.[index];
      const at = (y = NaN): number[] => api.coord([api.value(0), y]);
      const centre = (at(value)[0] ?? NaN) + (layout?.offsetCenter ?? 0);
      const [low = NaN, high = NaN] = [at(min)[1], at(max)[1]];
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        type: 'line' as const,
        shape: { x1, y1, x2, y2 },
        style: { stroke: ink, lineWidth: 1.5 },
      });
      const whisker =
        min === max
          ? []
          : [
              line(centre, low, centre, high),
              line(centre - HALF_CAP_PX, low, centre + HALF_CAP_PX, low),
              line(centre - HALF_CAP_PX, high, centre + HALF_CAP_PX, high),
            ];
      return {
        type: 'group',
        children: [
          ...whisker,
          {
            type: 'text',
            style: {
              text: words(value ?? NaN),
              x: centre,
              y: high - 4,
              align: 'center',
              verticalAlign: 'bottom',
              fill: ink,
              font,
            },
          },
        ],
      };
    },
  }));
}
