import type { Theme } from '../../../examples/inspector/draw/theme.js';

/** The name of each colour stands for the colour. */
export const THEME: Theme = {
  surface: 'surface',
  grid: 'grid',
  tick: 'tick',
  label: 'label',
  line: 'line',
  open: 'open',
  data: 'data',
  fragment: 'fragment',
  end: 'end',
  failed: 'failed',
  refused: 'refused',
  ping: 'ping',
  wall: 'wall',
  font: '11px font',
};

/** A context of a canvas that writes down what is drawn: `disc data 100,40 3.2`. */
export class RecordingContext {
  readonly drawn: string[] = [];
  fillStyle = '';
  strokeStyle = '';
  lineWidth = 0;
  lineCap = '';
  font = '';
  globalAlpha = 1;
  globalCompositeOperation = 'source-over';
  #disc = '';
  #line: string[] = [];

  beginPath(): void {
    this.#disc = '';
    this.#line = [];
  }

  arc(x: number, y: number, radius: number): void {
    this.#disc = `${place(x, y)} ${round(radius)}`;
  }

  moveTo(x: number, y: number): void {
    this.#line.push(place(x, y));
  }

  lineTo(x: number, y: number): void {
    this.#line.push(place(x, y));
  }

  fill(): void {
    this.#note(`disc ${this.fillStyle} ${this.#disc}`);
  }

  stroke(): void {
    this.#note(`lines ${this.strokeStyle} ${[this.#disc, ...this.#line].filter((part) => part !== '').join(' ')}`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.#note(`rect ${this.fillStyle} ${place(x, y)} ${round(width)}x${round(height)}`);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.#note(`box ${this.strokeStyle} ${place(x, y)} ${round(width)}x${round(height)}`);
  }

  fillText(text: string, x: number, y: number): void {
    this.#note(`text ${this.fillStyle} ${place(x, y)} ${text}`);
  }

  measureText(text: string): { readonly width: number } {
    return { width: 6 * text.length };
  }

  drawImage(_image: unknown, x: number, y: number): void {
    this.#note(`image ${place(x, y)}`);
  }

  setTransform(): void {
    // Places are noted in px, before any transform.
  }

  rect(): void {
    // Only clips.
  }

  clip(): void {
    // Each call is noted, clipped or not.
  }

  save(): void {
    // The painter saves only the clip.
  }

  restore(): void {
    // As above.
  }

  #note(drawn: string): void {
    this.drawn.push(this.globalAlpha === 1 ? drawn : `${drawn} at ${this.globalAlpha}`);
  }
}

/** A recording context as the code under test takes it. */
export function recordingContext(): { readonly context: CanvasRenderingContext2D; readonly drawn: string[] } {
  const context = new RecordingContext();
  return { context: context as unknown as CanvasRenderingContext2D, drawn: context.drawn };
}

/** A canvas whose context records. */
export function recordingCanvas(): { readonly canvas: HTMLCanvasElement; readonly drawn: string[] } {
  const { context, drawn } = recordingContext();
  const canvas = { width: 0, height: 0, style: {}, getContext: () => context };
  return { canvas: canvas as unknown as HTMLCanvasElement, drawn };
}

function place(x: number, y: number): string {
  return `${round(x)},${round(y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
