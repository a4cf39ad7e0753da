import { init, type EChartsOption } from 'echarts';

/** Draws a chart as SVG text, the same for the same option. */
export function renderSvg(option: EChartsOption, width: number, height: number): string {
  const drawing = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    drawing.setOption({ animation: false, ...option });
    // ECharts numbers its drawings.
    return drawing.renderToSVGString().replace(/zr\d+-/g, 'zr-');
  } finally {
    drawing.dispose(); // else a timer of it keeps the process alive
  }
}
