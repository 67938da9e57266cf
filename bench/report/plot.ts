import { parse, View } from 'vega';
import { compile } from 'vega-lite';
import type { TopLevelSpec } from 'vega-lite';
import type { Point } from './point.js';

export interface Plot {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly points: readonly Point[];
  readonly logX?: boolean;
  readonly logY?: boolean;
}

const SIZE = { width: 560, height: 320 };
const LOOKS = {
  background: 'white',
  config: { font: 'sans-serif', axis: { grid: true, gridColor: '#eee', labelLimit: 0 }, legend: { labelLimit: 0 } },
} as const;

/** A line for each series, as SVG. */
export function linePlot({ title, x, y, points, logX = false, logY = false }: Plot): Promise<string> {
  return draw({
    ...LOOKS,
    ...SIZE,
    title,
    data: { values: [...points] },
    mark: { type: 'line', point: true },
    encoding: {
      x: { field: 'x', type: 'quantitative', title: x, scale: { type: logX ? 'log' : 'linear' } },
      y: { field: 'y', type: 'quantitative', title: y, scale: { type: logY ? 'log' : 'linear', zero: !logY } },
      color: { field: 'series', type: 'nominal', title: null, sort: null },
    },
  });
}

/** A row for each series with a dot for each figure, and a rule at 1, which is the reference. */
export function dotPlot({ title, x, points, logX = false }: Plot): Promise<string> {
  const scale = { type: logX ? ('log' as const) : ('linear' as const) };
  return draw({
    ...LOOKS,
    title,
    width: SIZE.width,
    height: { step: 22 },
    data: { values: [...points] },
    layer: [
      {
        mark: { type: 'point', filled: true, size: 90 },
        encoding: {
          y: { field: 'series', type: 'nominal', title: null, sort: null },
          x: { field: 'y', type: 'quantitative', title: x, scale },
          color: { field: 'x', type: 'nominal', title: null, sort: null, legend: { orient: 'right' } },
        },
      },
      { mark: { type: 'rule', color: '#888' }, encoding: { x: { datum: 1 } } },
    ],
  });
}

function draw(spec: TopLevelSpec): Promise<string> {
  return new View(parse(compile(spec).spec), { renderer: 'none' }).toSVG();
}
