import type { Marble } from '../model/marble.js';
import type { Row } from '../model/rows.js';
import { between } from '../model/walk.js';
import { radiusOf, SIDE } from './marks.js';
import { AXIS_HEIGHT, LINE_AT, Painter, ROW_HEIGHT } from './painter.js';
import type { Picture } from './painter.js';

/** The canvas goes on so far beyond its visible right edge: a label that begins at the edge is drawn as a whole. */
const MARGIN = 200;
/** The px by which the pointer may miss a marble. */
const REACH = 8;

/** The canvas of the lanes. It shifts itself, and draws only the new edge. */
export class Scene {
  readonly #context: CanvasRenderingContext2D;
  readonly #painter: Painter;
  #width = 0;
  #height = 0;
  #scale = 1;
  #drawn: Picture | null = null;
  /** How many pictures were shifted, and how many were drawn anew. */
  readonly counts = { shifted: 0, redrawn: 0 };

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) throw new Error('expected a canvas with a 2D context');
    this.#context = context;
    this.#painter = new Painter(context);
  }

  get element(): HTMLCanvasElement {
    return this.canvas;
  }

  get width(): number {
    return this.#width;
  }

  get height(): number {
    return this.#height;
  }

  /** @param scale the pixels of the screen for each px */
  resize(width: number, height: number, scale: number): void {
    if (width === this.#width && height === this.#height && scale === this.#scale) return;
    this.#width = width;
    this.#height = height;
    this.#scale = scale;
    this.canvas.width = Math.round((width + MARGIN) * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width + MARGIN}px`;
    this.canvas.style.height = `${height}px`;
    this.#drawn = null;
  }

  draw(picture: Picture): void {
    const before = this.#drawn;
    this.#drawn = picture;
    if (before !== null && isShifted(before, picture, this.#painter.edge)) this.#shift(picture);
    else this.#redraw(picture);
  }

  /** The place of a time, in px from the left edge. */
  x(t: number): number {
    return this.#width - ((this.#painter.edge - t) * this.#width) / (this.#drawn?.span ?? 1);
  }

  /** The time at a place. */
  t(x: number): number {
    return this.#painter.edge - ((this.#width - x) * (this.#drawn?.span ?? 1)) / this.#width;
  }

  /** The place of a row's line, in px from the top. */
  y(row: Row): number {
    return AXIS_HEIGHT + (this.#drawn?.rows.indexOf(row) ?? 0) * ROW_HEIGHT + LINE_AT - (this.#drawn?.scroll ?? 0);
  }

  rowAt(y: number): Row | undefined {
    return y < AXIS_HEIGHT ? undefined : this.#drawn?.rows[Math.floor((y - AXIS_HEIGHT + this.#drawn.scroll) / ROW_HEIGHT)];
  }

  /** The place of a marble's centre. */
  placeOf(marble: Marble): { readonly x: number; readonly y: number } | null {
    const { row } = marble.lane;
    if (row === null || this.#drawn === null || !this.#drawn.rows.includes(row)) return null;
    return { x: this.x(marble.t), y: this.y(row) + (this.#drawn.isAbove(marble) ? -SIDE : SIDE) };
  }

  /** The nearest marble under the pointer; `null` where there is none. */
  marbleAt(x: number, y: number): Marble | null {
    const begin = this.t(x - 2 * REACH);
    const end = this.t(x + 2 * REACH);
    let best: Marble | null = null;
    let least = Infinity;
    for (const lane of this.rowAt(y)?.between(begin, end) ?? [])
      for (const marble of between(lane, begin, end)) {
        const place = marble.matches ? this.placeOf(marble) : null;
        const distance = place === null ? Infinity : Math.hypot(place.x - x, place.y - y);
        if (distance > radiusOf(marble) + REACH || distance >= least) continue;
        best = marble;
        least = distance;
      }
    return best;
  }

  #shift(picture: Picture): void {
    const { edge } = this.#painter;
    const pxPerMs = (this.#width * this.#scale) / picture.span;
    const px = Math.floor((picture.end - edge) * pxPerMs);
    if (px === 0) return;
    const { width, height } = this.canvas;
    const context = this.#context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalCompositeOperation = 'copy';
    context.drawImage(this.canvas, -px, 0);
    context.globalCompositeOperation = 'source-over';
    context.fillStyle = picture.theme.surface;
    context.fillRect(width - px, 0, px, height);
    this.#painter.edge = edge + px / pxPerMs;
    this.#paint(picture, edge);
    this.counts.shifted++;
  }

  #redraw(picture: Picture): void {
    const context = this.#context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = picture.theme.surface;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.#painter.begin();
    this.#painter.edge = picture.end;
    this.#paint(picture, picture.end - picture.span);
    this.counts.redrawn++;
  }

  #paint(picture: Picture, begin: number): void {
    this.#context.setTransform(this.#scale, 0, 0, this.#scale, 0, 0);
    this.#painter.paint(picture, this.#width, this.#height, begin);
  }
}

/** Whether the canvas has all of a picture but its new edge. */
function isShifted(before: Picture, { rows, span, scroll, version, theme, end }: Picture, edge: number): boolean {
  if (span !== before.span || scroll !== before.scroll || version !== before.version) return false;
  return rows === before.rows && theme === before.theme && end >= before.end && end - edge < span / 2;
}
