import { clockText, durationText } from '../model/describe.js';
import type { Lane } from '../model/lane.js';
import type { Marble } from '../model/marble.js';
import type { Row } from '../model/rows.js';
import { tickMs } from '../model/view.js';
import { between } from '../model/walk.js';
import { drawLost, drawMarble } from './marks.js';
import type { Theme } from './theme.js';

/** The height of the axis of time, in px. */
export const AXIS_HEIGHT = 24;
export const ROW_HEIGHT = 40;
/** The line of a lane lies so far below the top of its row; the label has the place above. */
export const LINE_AT = 25;
const PX_PER_TICK = 110;

/** The canvas shows this. Pictures that differ only in `end` are shifted; others are drawn anew. */
export interface Picture {
  readonly rows: readonly Row[];
  /** The right edge, in ms. */
  readonly end: number;
  readonly span: number;
  readonly scroll: number;
  readonly version: number;
  readonly theme: Theme;
  /** Whether the dialer's marbles are above the line. */
  readonly isAbove: (marble: Marble) => boolean;
}

/** Draws a part of time on a canvas whose visible right edge is the time `edge`. */
export class Painter {
  edge = 0;
  /** The label of each row ends at this time. */
  #labelled = new WeakMap<Row, number>();

  constructor(private readonly context: CanvasRenderingContext2D) {}

  /** Forgets the labels: everything is drawn anew. */
  begin(): void {
    this.#labelled = new WeakMap();
  }

  /** Draws the time from `begin` to the edge. */
  paint(picture: Picture, width: number, height: number, begin: number): void {
    const { context } = this;
    context.font = picture.theme.font;
    const part = new Part(context, picture, width, height, begin, this.edge);
    part.paintTicks();
    context.save();
    context.beginPath();
    context.rect(0, AXIS_HEIGHT, 2 * width, height);
    context.clip();
    part.paintRows(this.#labelled);
    part.paintWalls();
    context.restore();
  }
}

/** One part of time while it is drawn. */
class Part {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly picture: Picture,
    private readonly width: number,
    private readonly height: number,
    private readonly begin: number,
    private readonly edge: number,
  ) {}

  paintTicks(): void {
    const { context, begin, picture } = this;
    const { span, theme } = picture;
    const step = tickMs(span, Math.max(2, this.width / PX_PER_TICK));
    const digits = step < 100 ? 3 : step < 1_000 ? 1 : 0;
    for (let t = Math.floor(begin / step + 1) * step; t <= this.edge; t += step) {
      const x = Math.round(this.#x(t));
      context.fillStyle = theme.grid;
      context.fillRect(x, AXIS_HEIGHT - 6, 1, this.height);
      context.fillStyle = theme.tick;
      if (t >= 0) context.fillText(clockText(t, digits), x + 5, AXIS_HEIGHT - 9);
    }
  }

  paintRows(labelled: WeakMap<Row, number>): void {
    const { scroll, rows } = this.picture;
    const first = Math.max(0, Math.floor(scroll / ROW_HEIGHT));
    const last = Math.ceil((scroll + this.height - AXIS_HEIGHT) / ROW_HEIGHT);
    for (const [index, row] of rows.slice(first, last).entries())
      this.#paintRow(row, AXIS_HEIGHT + (first + index) * ROW_HEIGHT + LINE_AT - scroll, labelled);
  }

  #paintRow(row: Row, y: number, labelled: WeakMap<Row, number>): void {
    for (const lane of [...row.between(this.begin, this.edge)].reverse()) {
      if (!lane.isShown) continue;
      this.#paintLine(lane, y);
      if (!lane.isConnection) this.#paintLabel(row, lane, y, labelled);
      this.#paintMarbles(lane, y);
    }
  }

  /** Draws a lane's line: thick while both sides may send, then thin. */
  #paintLine(lane: Lane, y: number): void {
    const from = Math.max(this.begin, lane.openedAt);
    const to = Math.min(this.edge, lane.endedAt);
    const half = Math.min(to, Math.max(from, lane.halfEndedAt));
    this.context.fillStyle = this.picture.theme.line;
    this.#stroke(from, half, y, lane.isConnection ? 1 : 2.5);
    this.#stroke(half, to, y, 1.5);
    const { endedAt } = lane;
    if (lane.end === 'lost' && endedAt >= this.begin && endedAt <= this.edge)
      drawLost(this.context, this.picture.theme, this.#x(endedAt), y);
  }

  #stroke(from: number, to: number, y: number, height: number): void {
    if (to > from) this.context.fillRect(this.#x(from), y - height / 2, this.#x(to) - this.#x(from), height);
  }

  /** Names a stream above its open, where the label before it leaves room. */
  #paintLabel(row: Row, { openedAt, title }: Lane, y: number, labelled: WeakMap<Row, number>): void {
    const { span, theme } = this.picture;
    const at = Math.max(openedAt, this.edge - span);
    if (openedAt < this.begin && this.begin > this.edge - span) return;
    if (at <= (labelled.get(row) ?? -Infinity)) return;
    this.context.fillStyle = theme.label;
    this.context.fillText(title, Math.max(4, this.#x(at) - 4), y - 16);
    labelled.set(row, at + ((this.context.measureText(title).width + 10) * span) / this.width);
  }

  /** Draws the marbles of a lane. Of plain ones that share a pixel, one is drawn. */
  #paintMarbles(lane: Lane, y: number): void {
    const { theme, isAbove } = this.picture;
    const last = { above: -Infinity, below: -Infinity };
    for (const marble of between(lane, this.begin, this.edge)) {
      const above = isAbove(marble);
      const side = above ? 'above' : 'below';
      const x = this.#x(marble.t);
      if (marble.kind === 'pong' && marble.roundTrip !== null) this.#paintRoundTrip(marble, y);
      if (isPlain(marble) && x - last[side] < 0.75) continue;
      last[side] = x;
      drawMarble(this.context, theme, marble, x, y, above);
    }
  }

  /** Draws a ping and its pong as a bar as long as the round trip. */
  #paintRoundTrip({ t, roundTrip }: Marble, y: number): void {
    const { context, picture } = this;
    const begin = this.#x(t - (roundTrip ?? 0));
    const width = Math.max(2, this.#x(t) - begin);
    context.fillStyle = picture.theme.ping;
    context.globalAlpha = 0.3;
    context.fillRect(begin, y - 4, width, 8);
    context.globalAlpha = 1;
    context.fillStyle = picture.theme.label;
    if (width > 40) context.fillText(durationText(roundTrip ?? 0), begin + 6, y - 16);
  }

  /** Draws each goaway as a wall over the lanes of its connection. */
  paintWalls(): void {
    const { rows, scroll } = this.picture;
    for (const [index, row] of rows.entries()) {
      const { newest } = row;
      if (newest?.isConnection !== true) continue;
      const goaways = between(newest, this.begin, this.edge).filter(({ kind }) => kind === 'goaway');
      if (goaways.length === 0) continue;
      const top = AXIS_HEIGHT + index * ROW_HEIGHT - scroll;
      const height = rows.filter(({ c }) => c === row.c).length * ROW_HEIGHT;
      for (const goaway of goaways) this.#paintWall(goaway, top, height);
    }
  }

  #paintWall({ t }: Marble, top: number, height: number): void {
    const { context } = this;
    const x = this.#x(t);
    context.fillStyle = this.picture.theme.wall;
    context.globalAlpha = 0.8;
    context.fillRect(x - 1, top, 3, height);
    context.globalAlpha = 1;
    context.fillText('goaway', x + 8, top + 12);
  }

  #x(t: number): number {
    return this.width - ((this.edge - t) * this.width) / this.picture.span;
  }
}

function isPlain({ kind, ends }: Marble): boolean {
  return (kind === 'data' || kind === 'fragment') && !ends;
}
