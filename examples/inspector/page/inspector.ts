import { BehaviorSubject } from 'rxjs';
import type { Subscription } from 'rxjs';
import { readLines, writeLine } from 'rxmux/inspect';
import type { InspectorFeed } from 'rxmux/inspect';
import { Scene } from '../draw/scene.js';
import { themeOf } from '../draw/theme.js';
import type { Theme } from '../draw/theme.js';
import { Diagram } from '../model/diagram.js';
import { FilterError } from '../model/filter.js';
import type { Target } from '../model/copy.js';
import type { Lane } from '../model/lane.js';
import type { Marble } from '../model/marble.js';
import type { Row } from '../model/rows.js';

/** The rows are chosen and the components rendered this often, in ms; only the canvas moves with each frame of the screen. */
const RENDER_MS = 125;
/** Rows leave this seldom, because the canvas is drawn anew. */
const FOLDS_EVERY_MS = 2_000;

/** The state of the page: the diagram, what is selected, and the loop that draws. */
export class Inspector {
  readonly diagram = new Diagram();
  readonly #payloads$ = new BehaviorSubject(false);
  readonly #listeners = new Set<() => void>();
  #subscription: Subscription | null = null;
  #scene: Scene | null = null;
  #theme: Theme | null = null;
  #rows: readonly Row[] = [];
  #foldedAt = 0;
  #renderedAt = 0;
  #frame = 0;
  #marble: Marble | null = null;
  #lane: Lane | null = null;
  /** Where the pointer is, over which marble. */
  hovered: Marble | null = null;
  filterText = '';
  filterError = '';
  /** Why the feed has ended. */
  failure = '';
  /** The text that was copied last, for a page that may not write to the clipboard. */
  copied = '';
  isHelpShown = false;
  scroll = 0;
  /** Called with each drawn frame, for what lies over the canvas. */
  onFrame: () => void = () => undefined;

  /** @param url the server's address in copied commands, where the feed does not say it */
  constructor(private readonly url: string) {}

  get rows(): readonly Row[] {
    return this.#rows;
  }

  get scene(): Scene | null {
    return this.#scene;
  }

  get marble(): Marble | null {
    return this.#marble;
  }

  get lane(): Lane | null {
    return this.#lane;
  }

  get hasPayloads(): boolean {
    return this.#payloads$.value;
  }

  /** Whether the page watches a feed, and no recording. */
  get isLive(): boolean {
    return this.#subscription !== null;
  }

  get now(): number {
    return this.diagram.now(performance.now());
  }

  get end(): number {
    return this.diagram.view.endAt(this.now);
  }

  /** Whether a marble is above the line. */
  readonly isAbove = (marble: Marble): boolean => this.diagram.isSent(marble);

  /** The server of a lane, for a copied command. */
  targetOf({ c }: Lane): Target {
    const { url = this.diagram.url ?? this.url, codec } = this.diagram.sampleOf(c) ?? {};
    return { url, codec };
  }

  /** Calls a listener after each change of what the components show. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watch(feed: InspectorFeed): void {
    this.#subscription?.unsubscribe();
    this.failure = '';
    this.#subscription = feed(this.#payloads$).subscribe({
      next: (batch) => {
        this.diagram.receive(batch, performance.now());
      },
      error: (error: unknown) => {
        this.failure = error instanceof Error ? error.message : String(error);
      },
      complete: () => {
        this.failure = 'the server has ended the inspection';
      },
    });
  }

  /** Shows a recording in place of the feed. */
  load(text: string): void {
    this.#subscription?.unsubscribe();
    this.#subscription = null;
    this.clear();
    try {
      this.diagram.load(readLines(text));
      this.failure = '';
    } catch (error) {
      this.failure = (error as Error).message;
    }
    this.changed();
  }

  /** The lines that the diagram still has, as a recording. */
  recording(): string {
    return this.diagram.timeline.lines.map((line) => `${writeLine(line)}\n`).join('');
  }

  attach(canvas: HTMLCanvasElement): () => void {
    this.#scene = new Scene(canvas);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const forget = (): void => {
      this.#theme = null;
    };
    scheme.addEventListener('change', forget);
    this.#frame = requestAnimationFrame(this.#loop);
    return () => {
      scheme.removeEventListener('change', forget);
      cancelAnimationFrame(this.#frame);
      this.#scene = null;
    };
  }

  close(): void {
    this.#subscription?.unsubscribe();
    cancelAnimationFrame(this.#frame);
  }

  // The user's acts

  togglePause(): void {
    if (this.diagram.view.follows) this.diagram.view.pause(this.now);
    else this.diagram.view.follow();
    this.changed();
  }

  togglePayloads(): void {
    this.#payloads$.next(!this.hasPayloads);
    this.changed();
  }

  toggleFold(): void {
    this.diagram.fold(!this.diagram.folds);
    this.changed();
  }

  filterBy(text: string): void {
    this.filterText = text;
    try {
      this.diagram.filterBy(text);
      this.filterError = '';
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      this.filterError = error.message;
    }
    this.changed();
  }

  clear(): void {
    this.diagram.clear();
    this.select(null);
  }

  zoom(factor: number, share = 1): void {
    this.diagram.view.zoom(factor, this.now, share);
    this.changed();
  }

  moveTo(end: number): void {
    this.diagram.view.moveTo(end, this.now, this.diagram.timeline.oldest);
    this.changed();
  }

  /** Selects a marble, or a lane alone. */
  select(marble: Marble | null, lane: Lane | null = marble?.lane ?? null): void {
    if (lane !== this.#lane) this.copied = '';
    this.#marble = marble;
    this.#lane = lane;
    if (marble !== null) this.#show(marble);
    this.changed();
  }

  copy(text: string): void {
    this.copied = text;
    navigator.clipboard.writeText(text).catch(() => undefined);
    this.changed();
  }

  changed(): void {
    this.#foldedAt = 0;
    this.#renderedAt = 0;
  }

  /** Moves the picture until a marble is in it, and stops there. */
  #show({ t }: Marble): void {
    const { view } = this.diagram;
    view.pause(this.now);
    const begin = this.end - view.span;
    if (t < begin || t > this.end) this.moveTo(t + view.span / 2);
  }

  readonly #loop = (): void => {
    this.#frame = requestAnimationFrame(this.#loop);
    this.drawNow();
  };

  /** Draws one frame. */
  drawNow(): void {
    const scene = this.#scene;
    if (scene === null) return;
    const now = performance.now();
    const { end } = this;
    const isDue = now - this.#renderedAt >= RENDER_MS;
    if (isDue) this.#place(end, now);
    this.#theme ??= themeOf(scene.element);
    const { view, version } = this.diagram;
    scene.draw({ rows: this.#rows, end, span: view.span, scroll: this.scroll, version, theme: this.#theme, isAbove: this.isAbove });
    this.onFrame();
    if (!isDue) return;
    this.#renderedAt = now;
    for (const listener of this.#listeners) listener();
  }

  /** Chooses the rows. A new row is there soon; a row without anything to show leaves after a while. */
  #place(end: number, now: number): void {
    const seen = this.diagram.seenRows(end - this.diagram.view.span, end);
    const isFolding = now - this.#foldedAt > FOLDS_EVERY_MS;
    if (isFolding) this.#foldedAt = now;
    const shown = new Set(this.#rows);
    const isNew = seen.some((row) => !shown.has(row));
    const isLess = isFolding && seen.length !== shown.size;
    if (!isNew && !isLess) return;
    for (const row of seen) shown.add(row);
    this.#rows = isFolding ? seen : this.diagram.rows.filter((row) => shown.has(row));
  }
}
