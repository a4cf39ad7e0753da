import type { EChartsOption } from 'echarts';
import { spreadOf } from '#acuity/load/statistics.js';
import type { ChartPoint, Series } from './series.js';
import { whiskersOf } from './whiskers.js';
import { colourStyle, type ColourName } from '#acuity/tune/page.js';
import { renderSvg } from './renderSvg.js';

export interface Chart {
  /** File name without its ending. */
  readonly name: string;
  readonly title: string;
  readonly kind: 'line' | 'bars';
  readonly x: string;
  readonly y: string;
  readonly isLogX?: boolean;
  readonly isLogY?: boolean;
  readonly series: readonly Series[];
}

/** The bar of what was measured several times: its median, with the least and the most. */
export function barOf(name: string, values: readonly number[]): ChartPoint {
  if (values.length === 0) return [name, NaN];
  const { median, min, max } = spreadOf(values);
  return [name, median, { min, max }];
}

const WIDTH = 520;
const HEIGHT = 320;
/** ECharts wants colours that it can parse; these stand for the page's own and are replaced afterwards. */
const STAND_INS: Readonly<Record<Exclude<ColourName, 'paper' | 'good' | 'bad'>, string>> = {
  ink: '#010101',
  muted: '#020202',
  grid: '#030303',
  one: '#040404',
  two: '#050505',
  three: '#060606',
  four: '#070707',
};
const SERIES_COLOURS = [STAND_INS.one, STAND_INS.two, STAND_INS.three, STAND_INS.four];
const FONT = 'system-ui, sans-serif';
const BAR_GAPS = { barGap: '15%', barCategoryGap: '30%' } as const;

/** A chart as SVG that stands alone: it brings its colours for light and dark. */
export function svgOf(chart: Chart): string {
  const svg = renderSvg(optionOf(chart), WIDTH, HEIGHT).replace(/ xmlns:xlink="[^"]*"/, '');
  return named(withPageColours(svg), chart.title);
}

function optionOf({ kind, x, y, isLogX = false, isLogY = false, series }: Chart): EChartsOption {
  const isCrowded = (series[0]?.points.length ?? 0) > 4;
  const label = { color: STAND_INS.muted, fontSize: 13, fontFamily: FONT };
  const axis = {
    axisLabel: { ...label, formatter: short },
    nameTextStyle: label,
    axisLine: { lineStyle: { color: STAND_INS.muted } },
    splitLine: { lineStyle: { color: STAND_INS.grid } },
  };
  const category = {
    ...axis,
    axisLabel: { ...label, interval: 0, fontSize: isCrowded ? 11 : 13 },
    type: 'category',
    name: x,
  } as const;
  const number = isLogX
    ? ({ ...axis, type: 'log', name: x } as const)
    : ({ ...axis, type: 'value', name: x } as const);
  const below = { nameLocation: 'middle', nameGap: 26, splitLine: { show: false } } as const;
  const upright = {
    ...axis,
    axisLabel: { ...label, formatter: short },
    name: y,
    nameGap: 26,
    nameTextStyle: { ...label, align: 'left' as const },
  };
  return {
    color: SERIES_COLOURS,
    textStyle: { fontFamily: FONT },
    legend:
      series.length > 1
        ? { bottom: 0, itemGap: 24, textStyle: { ...label, color: STAND_INS.ink } }
        : { show: false },
    grid: { left: 8, right: 24, top: 48, bottom: series.length > 1 ? 54 : 28, containLabel: true },
    xAxis: kind === 'bars' ? { ...category, ...below } : { ...number, ...below },
    yAxis: isLogY ? { ...upright, type: 'log' } : { ...upright, type: 'value' },
    series: [
      ...series.map(({ name, points }) => ({
        name,
        type: kind === 'bars' ? ('bar' as const) : ('line' as const),
        data: points.filter(([, value]) => Number.isFinite(value)).map(([x, value]) => [x, value]),
        symbolSize: 7,
        lineStyle: { width: 2.5 },
        ...BAR_GAPS,
      })),
      ...(kind === 'bars'
        ? whiskersOf(series, {
            ink: STAND_INS.ink,
            font: `${isCrowded ? 10 : 12}px ${FONT}`,
            words: isCrowded ? shorter : short,
            gaps: BAR_GAPS,
          })
        : []),
    ],
  };
}

/** 1234 → "1,234"; 23,400 → "23k"; 1,500,000 → "1.5M". */
export function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(2))}M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return Number(value.toPrecision(3)).toLocaleString('en');
}

/** The same where bars stand close: 0.0931 → "0.1", 2.45 → "2.5". */
export function shorter(value: number): string {
  return value < 1000 ? String(Number(value.toFixed(1))) : short(value);
}

function withPageColours(svg: string): string {
  const coloured = Object.entries(STAND_INS).reduce(
    (text, [name, standIn]) => text.replaceAll(standIn, `var(--${name})`),
    svg,
  );
  return coloured.replace('>', `><style>${colourStyle()}</style>`);
}

function named(svg: string, title: string): string {
  const text = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  return svg.replace('<svg ', `<svg role="img" aria-label="${text}" `);
}
