import type { Point } from './point.js';

/** The columns of a drawing and its width in px: one for a desk, one for a phone. */
export interface BarsLayout {
  readonly columns: number;
  readonly width: number;
}

const MARGIN = 16;
const GAP = 36;
const TITLE = { height: 26, size: 14 };
const ROW = { height: 21, bar: 13, size: 13 };
/** The px of the names at the left, and of the figures at the right of the bars. */
const NAMES = 102;
const FIGURES = 40;
const PANEL_GAP = 18;
const NOTE_HEIGHT = 30;
const FONT = 'system-ui, -apple-system, &quot;Segoe UI&quot;, Helvetica, Arial, sans-serif';

/** Attributes for programs that read no styles, and styles for the dark scheme. */
const LOOKS = {
  card: ['#ffffff', '#0d1117'],
  edge: ['#d0d7de', '#3d444d'],
  ink: ['#1f2328', '#e6edf3'],
  dim: ['#59636e', '#9198a1'],
  bar: ['#848d97', '#656c76'],
  own: ['#0969da', '#4493f8'],
} as const;
type Look = keyof typeof LOOKS;

const DARK = Object.entries(LOOKS).map(([name, [, dark]]) => `.${name}{fill:${dark}}`);
const STYLE = `<style>@media(prefers-color-scheme:dark){${DARK.join('')}.frame{stroke:${LOOKS.edge[1]}}.one{stroke:${LOOKS.dim[1]}}}</style>`;

/**
 * Draws a panel of bars for each series, as SVG: the first name of a series is marked. The bars of one panel share a linear scale, and a
 * line stands at 1, which is the reference.
 */
export function barPanels(points: readonly Point[], note: string, { columns, width }: BarsLayout): string {
  const panels = [...new Set(points.map(({ series }) => series))].map((series) => points.filter((point) => point.series === series));
  const panelWidth = (width - 2 * MARGIN - (columns - 1) * GAP) / columns;
  const drawn: string[] = [];
  let y = MARGIN;
  for (let first = 0; first < panels.length; first += columns) {
    const line = panels.slice(first, first + columns);
    drawn.push(...line.flatMap((panel, column) => drawPanel(panel, MARGIN + column * (panelWidth + GAP), y, panelWidth)));
    y += TITLE.height + Math.max(...line.map(({ length }) => length)) * ROW.height + PANEL_GAP;
  }
  const height = y + NOTE_HEIGHT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${FONT}">`,
    `<title>rxmux beside other libraries: ${escaped(note)}</title>`,
    STYLE,
    `<rect class="card frame" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="${LOOKS.card[0]}" stroke="${LOOKS.edge[0]}"/>`,
    ...drawn,
    written(note, MARGIN, height - MARGIN, { size: 12, look: 'dim' }),
    '</svg>\n',
  ].join('\n');
}

function drawPanel(points: readonly Point[], x: number, y: number, width: number): string[] {
  const from = x + NAMES;
  const scale = (width - NAMES - FIGURES) / Math.max(1, ...points.map((point) => point.y));
  const bottom = y + TITLE.height + points.length * ROW.height - 2;
  const one = from + scale;
  return [
    written(points[0]?.series ?? '', x, y + TITLE.size, { size: TITLE.size, look: 'ink', weight: 600 }),
    ...points.flatMap((point, index) =>
      drawBar(point, index === 0, { x, from, to: x + width, y: y + TITLE.height + index * ROW.height, scale }),
    ),
    `<line class="one" x1="${place(one)}" x2="${place(one)}" y1="${y + TITLE.height - 3}" y2="${bottom}" stroke="${LOOKS.dim[0]}" stroke-dasharray="2 3"/>`,
  ];
}

function drawBar(point: Point, isOwn: boolean, at: { x: number; from: number; to: number; y: number; scale: number }): string[] {
  const length = Math.max(1, point.y * at.scale);
  const look = isOwn ? 'own' : 'bar';
  const weight = isOwn ? 600 : 400;
  const base = at.y + ROW.bar - 2;
  return [
    written(String(point.x), at.x, base, { size: ROW.size, look: 'ink', weight }),
    `<rect class="${look}" x="${at.from}" y="${at.y}" width="${place(length)}" height="${ROW.bar}" rx="2" fill="${LOOKS[look][0]}"/>`,
    written(figureOf(point.y), at.to, base, { size: ROW.size, look: isOwn ? 'ink' : 'dim', weight, anchor: 'end' }),
  ];
}

function written(text: string, x: number, y: number, font: { size: number; look: Look; weight?: number; anchor?: 'end' }): string {
  const { size, look, weight = 400, anchor = 'start' } = font;
  return `<text class="${look}" x="${x}" y="${y}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}" fill="${LOOKS[look][0]}">${escaped(text)}</text>`;
}

function figureOf(value: number): string {
  return value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2);
}

function place(px: number): number {
  return Math.round(px * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
