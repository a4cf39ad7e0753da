import { init, type EChartsOption } from 'echarts';

export interface Chart {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  /** One line each. */
  readonly series: readonly {
    readonly name: string;
    readonly points: readonly (readonly [x: number, y: number])[];
  }[];
}

/** Colours that stay apart for colour-blind readers (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];

/** The chart as an SVG document, the same for the same points. */
export function plot({ title, x, y, series }: Chart): string {
  const drawing = init(null, null, { renderer: 'svg', ssr: true, width: 800, height: 480 });
  try {
    drawing.setOption({
      animation: false,
      backgroundColor: '#ffffff',
      title: { text: title, left: 'center', textStyle: { fontSize: 14 } },
      legend: { bottom: 0, left: 40, right: 140, itemGap: 30, textStyle: { fontSize: 11 } },
      grid: { left: 60, right: 20, top: 40, bottom: 110 },
      xAxis: axis(x, 28),
      yAxis: axis(y, 42),
      series: series.map(({ name, points }, index) => ({
        name,
        color: COLOURS[index % COLOURS.length],
        type: 'line',
        data: points.map(([px, py]) => [rounded(px), rounded(py)]),
        symbolSize: 4,
        lineStyle: { type: 'solid' },
        showSymbol: points.length <= 30,
      })),
    } as EChartsOption);
    // Remove the running numbers that ECharts gives its drawings.
    return `${drawing
      .renderToSVGString()
      .replace(/zr\d+-/g, 'zr-')
      .trim()}\n`;
  } finally {
    drawing.dispose(); // otherwise its timer keeps the process alive
  }
}

function axis(name: string, nameGap: number) {
  return { type: 'value' as const, name, nameLocation: 'middle' as const, nameGap, scale: true };
}

/** Five digits are enough for a picture, and the same on every machine. */
function rounded(value: number): number {
  return Number(value.toPrecision(5));
}
