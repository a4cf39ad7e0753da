import { init, type EChartsOption } from 'echarts';

/** One line or set of dots. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly style?: 'line' | 'dashed' | 'dots';
  /** Series that belong together share a colour; by default each has its own. */
  readonly colour?: number;
}

export interface Chart {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly series: readonly Series[];
  /** The range of y; by default that of the data. */
  readonly yRange?: readonly [number, number];
  readonly xRange?: readonly [number, number];
}

const WIDTH = 800;
const HEIGHT = 480;
/** Colours that stay apart for colour-blind readers (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];

/** The chart as an SVG document. */
export function plot(chart: Chart): string {
  const { title, x, y, series, xRange, yRange } = chart;
  const option = {
    backgroundColor: '#ffffff',
    title: { text: title, left: 'center', textStyle: { fontSize: 14 } },
    legend: { bottom: 0, left: 40, right: 140, itemGap: 30, textStyle: { fontSize: 11 } },
    grid: { left: 60, right: 20, top: 40, bottom: 110 },
    xAxis: axis(x, 28, xRange),
    yAxis: axis(y, 42, yRange),
    series: series.map(({ name, points, style = 'line', colour }, index) => ({
      name,
      color: COLOURS[(colour ?? index) % COLOURS.length],
      type: style === 'dots' ? 'scatter' : 'line',
      data: points.map(([px, py]) => [rounded(px), rounded(py)]),
      symbolSize: style === 'dots' ? 6 : 4,
      lineStyle: { type: style === 'dashed' ? 'dashed' : 'solid' },
      showSymbol: points.length <= 30,
    })),
  };
  return `${renderSvg(option as EChartsOption, WIDTH, HEIGHT).trim()}\n`;
}

function axis(name: string, nameGap: number, range: readonly [number, number] | undefined) {
  const bounds = range === undefined ? { scale: true } : { min: range[0], max: range[1] };
  return { type: 'value' as const, name, nameLocation: 'middle' as const, nameGap, ...bounds };
}

/** Five digits are enough for a picture, and the same on every machine. */
function rounded(value: number): number {
  return Number(value.toPrecision(5));
}

/** Draws a chart as SVG text, the same for the same option. */
function renderSvg(option: EChartsOption, width: number, height: number): string {
  const drawing = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    drawing.setOption({ animation: false, ...option });
    // Remove the running numbers that ECharts gives its drawings.
    return drawing.renderToSVGString().replace(/zr\d+-/g, 'zr-');
  } finally {
    drawing.dispose(); // otherwise its timer keeps the process alive
  }
}
