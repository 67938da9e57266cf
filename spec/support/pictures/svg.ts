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
const COLORS = 7;

/** White letters keep a contrast of 4.5 on each color. A card makes the picture readable where a page chose the other theme. */
const STYLE = `
:root{--card:#fff;--edge:#d0d7de;--ink:#1f2328;--dim:#59636e;--line:#8c959f;--pair:#d8dee4;--server:#57606a;--sub:#0969da;--error:#cf222e}
@media(prefers-color-scheme:dark){:root{--card:#0d1117;--edge:#3d444d;--ink:#e6edf3;--dim:#9198a1;--line:#656c76;--pair:#3d444d;--server:#656d76;--sub:#58a6ff;--error:#f85149}}
text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:var(--ink)}
.t{font-size:15px;font-weight:600}.k{font-size:12px;fill:var(--dim)}
.l,.e,.c,.x,.u{stroke:var(--line);stroke-width:2;fill:none}.c{stroke:var(--ink);stroke-width:2.5}.x{stroke:var(--error);stroke-width:2.5}
.s{stroke:var(--sub);stroke-width:2.5;fill:none;stroke-linecap:round}.w{stroke:var(--line);stroke-width:26;stroke-opacity:.22;stroke-linecap:round}
.p{stroke:var(--pair);stroke-width:28;stroke-linecap:round}
.m text{font:600 12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;text-anchor:middle;fill:#fff}
.m .d{fill:var(--ink)}.f{fill:var(--card);stroke:var(--server);stroke-width:1.5}.F{fill:var(--server)}
.g{fill:var(--card)}
.c0{fill:#0969da}.c1{fill:#bf3989}.c2{fill:#1a7f37}.c3{fill:#8250df}.c4{fill:#9a6700}.c5{fill:#0b7285}.c6{fill:#bc4c00}
`
  .trim()
  .replaceAll('\n', '');

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const round = (pixels: number): number => Math.round(pixels * 10) / 10;

/** Small and capital letters have one color. */
function colorsOf(lanes: readonly NamedLane[]): Map<string, number> {
  const colors = new Map<string, number>();
  for (const { moments, shape } of lanes)
    if (shape !== 'frames')
      for (const letter of moments.flatMap(({ letters }) => letters.map((each) => each.toLowerCase())))
        if (!colors.has(letter)) colors.set(letter, colors.size % COLORS);
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
  const ink = shape === 'frames' && !isServer ? ' class="d"' : '';
  return `${mark}<text${ink} x="${round(x)}" y="${y + 4}">${escaped(letter)}</text>`;
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
    `<text x="${MARGIN}" y="${y + 4}">${escaped(lane.name)}</text><g class="m">`,
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
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-rows">`,
    `<title id="${id}-title">${escaped(title)}</title>`,
    `<desc id="${id}-rows">${escaped(description)}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="var(--card)" stroke="var(--edge)"/>`,
    `<text class="t" x="${MARGIN}" y="28">${escaped(title)}</text>`,
    ...lanes.map((lane, nth) => drawLane(lane, nth, colors, line)),
    drawCuts(line, bottom - 20),
    ...key.map((text, nth) => `<text class="k" x="${MARGIN}" y="${bottom + nth * 18}">${escaped(text)}</text>`),
    '</svg>\n',
  ].join('\n');
}
