import { endOfReset } from '../model/lane.js';
import type { LaneEnd } from '../model/lane.js';
import type { Kind, Marble } from '../model/marble.js';
import type { Theme } from './theme.js';

/** The distance of a marble's centre from the line of its lane. */
export const SIDE = 8;
/** The largest radius of a marble. */
export const RADIUS = 6;
const OPEN_RADIUS = 4.5;
const FRAGMENT_RADIUS = 2.5;
const SMALL_RADIUS = 3.2;
const BAR = 8;
const FULL_CIRCLE = 2 * Math.PI;
const FADED = 0.16;

/** Draws a marble at `x`, above or below the line at `y`. */
export function drawMarble(context: CanvasRenderingContext2D, theme: Theme, marble: Marble, x: number, y: number, isAbove: boolean): void {
  context.globalAlpha = marble.matches ? 1 : FADED;
  const side = isAbove ? -1 : 1;
  MARKS[marble.kind](context, theme, marble, x, y + side * SIDE);
  if (marble.ends) drawBar(context, theme, x + barOffset(marble), y, side);
  context.globalAlpha = 1;
}

/** The radius of a marble, by the size of its frame. */
export function radiusOf({ kind, bytes }: Marble): number {
  if (kind === 'fragment') return FRAGMENT_RADIUS;
  if (kind === 'open') return OPEN_RADIUS;
  return Math.min(RADIUS, SMALL_RADIUS + Math.log10(Math.max(1, bytes / 50)));
}

type Draw = (context: CanvasRenderingContext2D, theme: Theme, marble: Marble, x: number, y: number) => void;

/** The mark of each kind of frame. The end alone has its bar, and no mark. */
const MARKS: Readonly<Record<Kind, Draw>> = {
  open: disc('open', () => OPEN_RADIUS),
  data: disc('data', radiusOf),
  fragment: disc('fragment', () => FRAGMENT_RADIUS),
  end: () => undefined,
  reset: (context, theme, marble, x, y) => {
    RESETS[endOfReset(marble)](context, theme, x, y);
  },
  ping: disc('ping', () => FRAGMENT_RADIUS),
  pong: disc('ping', () => FRAGMENT_RADIUS),
  goaway: disc('wall', () => SMALL_RADIUS),
  unknown: disc('tick', () => SMALL_RADIUS),
};

function disc(colour: keyof Theme, radius: (marble: Marble) => number): Draw {
  return (context, theme, marble, x, y) => {
    context.fillStyle = theme[colour];
    context.beginPath();
    context.arc(x, y, radius(marble), 0, FULL_CIRCLE);
    context.fill();
  };
}

/** Half the width of an end's mark. */
const ARM = SMALL_RADIUS + 0.6;

type DrawEnd = (context: CanvasRenderingContext2D, theme: Theme, x: number, y: number) => void;

/** The mark of each end but the bar of both halves. Each has a shape of its own, for readers who see few colours. */
const RESETS: Readonly<Record<LaneEnd, DrawEnd>> = {
  completed: (context, { end }, x, y) => {
    context.fillStyle = end;
    context.fillRect(x - 1, y - ARM, 2, 2 * ARM);
  },
  cancelled: (context, { end }, x, y) => {
    context.strokeStyle = end;
    context.lineWidth = 1.5;
    context.strokeRect(x - ARM + 0.5, y - ARM + 0.5, 2 * ARM - 1, 2 * ARM - 1);
  },
  refused: (context, { refused }, x, y) => {
    const side = ARM * Math.SQRT1_2;
    context.beginPath();
    context.arc(x, y, ARM, 0, FULL_CIRCLE);
    drawLines(context, refused, [x - side, y - side, x + side, y + side]);
  },
  failed: (context, { failed }, x, y) => {
    context.beginPath();
    drawLines(context, failed, [x - ARM, y - ARM, x + ARM, y + ARM], [x + ARM, y - ARM, x - ARM, y + ARM]);
  },
  lost: drawLost,
};

/** Draws the end of a stream whose connection was lost: its line is broken off. */
export function drawLost(context: CanvasRenderingContext2D, { failed }: Theme, x: number, y: number): void {
  context.beginPath();
  drawLines(context, failed, [x, y + ARM, x + 3, y - ARM], [x + 4, y + ARM, x + 7, y - ARM]);
}

type Stroke = readonly [fromX: number, fromY: number, toX: number, toY: number];

/** Adds lines to the path, and strokes it. */
function drawLines(context: CanvasRenderingContext2D, colour: string, ...strokes: readonly Stroke[]): void {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.lineCap = 'round';
  for (const [fromX, fromY, toX, toY] of strokes) {
    context.moveTo(fromX, fromY);
    context.lineTo(toX, toY);
  }
  context.stroke();
}

/** Draws the end of one direction: half a bar, which the end of the other direction makes whole. */
function drawBar(context: CanvasRenderingContext2D, { end }: Theme, x: number, y: number, side: 1 | -1): void {
  context.fillStyle = end;
  context.fillRect(x - 1, side < 0 ? y - BAR - 3 : y, 2, BAR + 3);
}

/** A bar stands behind its marble, and in the place of a marble that is nothing else. */
function barOffset(marble: Marble): number {
  return marble.kind === 'end' ? 0 : radiusOf(marble) + 3;
}
