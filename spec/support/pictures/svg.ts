import type { Lane, Moment, Span } from './lanes.js';
import { LETTER, timeLine } from './time-line.js';
import type { TimeLine } from './time-line.js';

/** A lane with its name. Frames are squares, and values are circles. */
export interface NamedLane extends Lane {
  readonly name: string;
  readonly shape: 'values' | 'frames' | 'socket';
}

/** The content of a picture. */
export interface Drawing {
  readonly id: string;
  readonly title: string;
  /** The rows as text, for readers who do not see the picture. */
  readonly description: string;
  readonly lanes: readonly NamedLane[];
  /** Lines that explain the letters. */
  readonly key: readonly string[];
}

const MARGIN = 20;
const TOP = 58;
const LANE = 46;
const RADIUS = 10;
const SUBSCRIPTION = 17;

/** The colors of the light and of the dark scheme. */
const CARD = ['#ffffff', '#0d1117'] as const;
const EDGE = ['#d0d7de', '#3d444d'] as const;
const INK = ['#1f2328', '#e6edf3'] as const;
const DIM = ['#59636e', '#9198a1'] as const;
const LINE = ['#8c959f', '#656c76'] as const;
const PAIR = ['#d8dee4', '#3d444d'] as const;
const SERVER = ['#57606a', '#656d76'] as const;
const SUBSCRIBED = ['#0969da', '#58a6ff'] as const;
const ERROR = ['#cf222e', '#f85149'] as const;
/** White letters keep a contrast of 4.5 on each of them. */
const VALUES = ['#0969da', '#bf3989', '#1a7f37', '#8250df', '#9a6700', '#0b7285', '#bc4c00'];

type Scheme = readonly [light: string, dark: string];

/** Fills and strokes of one class, and its other attributes. */
interface Look {
  readonly fill?: Scheme | 'none';
  readonly stroke?: Scheme;
  readonly other?: string;
}

const stroked = (stroke: Scheme, width: number, other = ''): Look => ({ fill: 'none', stroke, other: `stroke-width="${width}"${other}` });

/** Programs without styles, such as file managers and previews of links, read attributes alone. */
const LOOKS: Readonly<Record<string, Look>> = {
  // A card makes the picture readable where a page chose the other theme.
  card: { fill: CARD, stroke: EDGE },
  t: { fill: INK, other: 'font-size="15" font-weight="600"' },
  n: { fill: INK },
  k: { fill: DIM, other: 'font-size="12"' },
  l: stroked(LINE, 2),
  e: stroked(LINE, 2),
  u: stroked(LINE, 2),
  c: stroked(INK, 2.5),
  x: stroked(ERROR, 2.5),
  s: stroked(SUBSCRIBED, 2.5, ' stroke-linecap="round"'),
  w: stroked(LINE, 26, ' stroke-opacity=".22" stroke-linecap="round"'),
  p: stroked(PAIR, 28, ' stroke-linecap="round"'),
  m: {
    other: 'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="12" font-weight="600" text-anchor="middle"',
  },
  a: { fill: ['#ffffff', '#ffffff'] },
  d: { fill: INK },
  f: { fill: CARD, stroke: SERVER, other: 'stroke-width="1.5"' },
  F: { fill: SERVER },
  g: { fill: CARD },
  ...Object.fromEntries(VALUES.map((color, nth): [string, Look] => [`c${nth}`, { fill: [color, color] }])),
};

const FONT = 'system-ui, -apple-system, &quot;Segoe UI&quot;, Helvetica, Arial, sans-serif';

function attributesOf({ fill, stroke, other }: Look): string {
  const colors = [
    ...(fill === undefined ? [] : [`fill="${fill === 'none' ? fill : fill[0]}"`]),
    ...(stroke ? [`stroke="${stroke[0]}"`] : []),
  ];
  return [...colors, ...(other === undefined ? [] : [other])].join(' ');
}

function darkRule([name, { fill, stroke }]: [string, Look]): string {
  const filled = fill === undefined || fill === 'none' || fill[0] === fill[1] ? '' : `fill:${fill[1]};`;
  const rule = filled + (stroke === undefined ? '' : `stroke:${stroke[1]}`);
  return rule === '' ? '' : `.${name}{${rule}}`;
}

const STYLE = `@media(prefers-color-scheme:dark){${Object.entries(LOOKS).map(darkRule).join('')}}`;

/** Adds the attributes of each class. */
const withAttributes = (svg: string): string =>
  svg.replaceAll(/class="(\w+)"/g, (given, name: string) => `${given} ${attributesOf(LOOKS[name] ?? {})}`);

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const round = (pixels: number): number => Math.round(pixels * 10) / 10;

/** Small and capital letters have one color. */
function colorsOf(lanes: readonly NamedLane[]): Map<string, number> {
  const colors = new Map<string, number>();
  for (const { moments, shape } of lanes)
    if (shape !== 'frames')
      for (const letter of moments.flatMap(({ letters }) => letters.map((each) => each.toLowerCase())))
        if (!colors.has(letter)) colors.set(letter, colors.size % VALUES.length);
  return colors;
}

function drawLetter(letter: string, shape: NamedLane['shape'], color: number, x: number, y: number): string {
  const isServer = letter !== letter.toLowerCase();
  const side = RADIUS * 2;
  const square = (className: string): string =>
    `<rect class="${className}" x="${round(x - RADIUS)}" y="${y - RADIUS}" width="${side}" height="${side}" rx="4"/>`;
  const mark = {
    values: () => `<circle class="c${color}" cx="${round(x)}" cy="${y}" r="${RADIUS}"/>`,
    frames: () => square(isServer ? 'F' : 'f'),
    socket: () => square(`c${color}`),
  }[shape]();
  const ink = shape === 'frames' && !isServer ? 'd' : 'a';
  return `${mark}<text class="${ink}" x="${round(x)}" y="${y + 4}">${escaped(letter)}</text>`;
}

function drawEnd(end: NonNullable<Moment['end']>, x: number, y: number): string {
  const at = round(x);
  return {
    complete: `<path class="c" d="M${at} ${y - 11}v22"/>`,
    error: `<path class="x" d="M${round(x - 6)} ${y - 6}l12 12m0-12l-12 12"/>`,
    left: `<path class="u" d="M${at} ${y - 8}v16"/>`,
  }[end];
}

function drawMoment(
  { at, letters, end }: Moment,
  { shape }: NamedLane,
  colors: ReadonlyMap<string, number>,
  line: TimeLine,
  y: number,
): string {
  const x = line.x(at);
  const last = x + (letters.length - 1) * LETTER;
  const together = letters.length < 2 ? [] : [`<path class="p" d="M${round(x)} ${y}H${round(last)}"/>`];
  const marks = letters.map((letter, nth) => drawLetter(letter, shape, colors.get(letter.toLowerCase()) ?? 0, x + nth * LETTER, y));
  if (end !== null) marks.push(drawEnd(end, letters.length === 0 ? x : last + 16, y));
  return [...together, ...marks].join('');
}

/** A life as a line; an arrow where it goes on. */
function drawLife({ from, to }: Span, { shape, moments }: NamedLane, line: TimeLine, y: number): string {
  const x = round(line.x(from));
  const beyond =
    Math.max(0, ...moments.filter(({ at, end }) => at === to && end !== null).map(({ letters }) => letters.length - 1)) * LETTER;
  const last = Number.isFinite(to) ? round(line.x(to) + beyond) : line.end;
  const wide = shape === 'socket' ? `<path class="w" d="M${x - 4} ${y}H${round(last)}"/>` : '';
  const arrow = Number.isFinite(to) ? '' : `<path class="e" d="M${round(last - 6)} ${y - 4}l6 4l-6 4"/>`;
  return `${wide}<path class="l" d="M${x} ${y}H${round(last)}"/>${arrow}`;
}

/** A subscription below its source: an arrow up where it begins, and a bar where it ends. */
function drawSubscription({ from, to }: Span, isLower: boolean, line: TimeLine, y: number): string {
  const x = round(line.x(from));
  const below = y + SUBSCRIPTION + (isLower ? 7 : 0);
  const last = round(Number.isFinite(to) ? line.x(to) : line.end);
  const end = Number.isFinite(to) ? `M${last} ${below - 4}v8` : '';
  return `<path class="s" d="M${x - 4} ${below + 3}l4-6l4 6M${x} ${below}H${last}${end}"/>`;
}

/** A subscription lies lower where it begins at the end of the one before. */
const isLower = (spans: readonly Span[], nth: number): boolean =>
  nth > 0 && spans[nth - 1]?.to === spans[nth]?.from && !isLower(spans, nth - 1);

function drawLane(lane: NamedLane, nth: number, colors: ReadonlyMap<string, number>, line: TimeLine): string {
  const y = TOP + nth * LANE;
  return [
    `<text class="n" x="${MARGIN}" y="${y + 4}">${escaped(lane.name)}</text><g class="m">`,
    ...lane.lives.map((life) => drawLife(life, lane, line, y)),
    ...(lane.subscriptions ?? []).map((span, nth, spans) => drawSubscription(span, isLower(spans, nth), line, y)),
    ...lane.moments.map((moment) => drawMoment(moment, lane, colors, line, y)),
    '</g>',
  ].join('');
}

const spelled = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${round(ms / 1_000)} s`);

/** A gap in all lanes, with the time that passes there. */
function drawCuts({ cuts }: TimeLine, bottom: number): string {
  return cuts
    .map(
      ({ x, ms }) =>
        `<rect class="g" x="${round(x - 26)}" y="${TOP - 14}" width="52" height="${bottom - TOP + 14}"/>` +
        `<text class="k" text-anchor="middle" x="${round(x)}" y="${round((TOP + bottom) / 2 - 4)}">${spelled(ms)}</text>`,
    )
    .join('');
}

/** Draws lanes below each other on one time line. */
export function draw({ id, title, description, lanes, key }: Drawing): string {
  const names = Math.max(...lanes.map(({ name }) => name.length)) * 7;
  const line = timeLine(lanes, MARGIN + names + 26);
  const bottom = TOP + lanes.length * LANE;
  const height = bottom - 14 + key.length * 18 + (key.length === 0 ? 0 : 8);
  const width = Math.ceil(Math.max(line.end + MARGIN, title.length * 9 + 2 * MARGIN, ...key.map((text) => text.length * 6.3 + 2 * MARGIN)));
  const colors = colorsOf(lanes);
  const drawn = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="13" role="img" aria-labelledby="${id}-title ${id}-rows">`,
    `<title id="${id}-title">${escaped(title)}</title>`,
    `<desc id="${id}-rows">${escaped(description)}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" class="card"/>`,
    `<text class="t" x="${MARGIN}" y="28">${escaped(title)}</text>`,
    ...lanes.map((lane, nth) => drawLane(lane, nth, colors, line)),
    drawCuts(line, bottom - 20),
    ...key.map((text, nth) => `<text class="k" x="${MARGIN}" y="${bottom + nth * 18}">${escaped(text)}</text>`),
    '</svg>\n',
  ];
  return withAttributes(drawn.join('\n'));
}
