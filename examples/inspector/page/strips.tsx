import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { AlignedData, Options } from 'uplot';
import { clockText, durationText, sizeText } from '../model/describe.js';
import type { Second } from '../model/totals.js';
import { LONGEST_MS } from '../model/view.js';
import type { Inspector } from './inspector.js';
import { Legend } from './mark.js';

const HEIGHT = 44;
/** The strips begin with this much time, and grow to ten minutes. */
const SHORTEST_MS = 30_000;

interface Strip {
  readonly title: string;
  /** The custom properties of the colours, one for each line. */
  readonly colours: readonly string[];
  readonly values: (second: Second) => readonly (number | null)[];
  readonly text: (second: Second | undefined) => preact.ComponentChildren;
}

const STRIPS: readonly Strip[] = [
  {
    title: 'Bytes a second',
    colours: ['sent', 'received'],
    values: ({ sent, received }) => [sent, received],
    text: (second) => (
      <>
        <span class="sent">↑ {sizeText(second?.sent ?? 0)}</span> <span class="received">↓ {sizeText(second?.received ?? 0)}</span>
      </>
    ),
  },
  {
    title: 'Queue',
    colours: ['data'],
    values: ({ queue }) => [queue],
    text: (second) => (second?.queue == null ? '–' : sizeText(second.queue)),
  },
  {
    title: 'Round trip',
    colours: ['ping'],
    values: ({ rtt }) => [rtt],
    text: (second) => (second?.rtt == null ? '–' : durationText(second.rtt)),
  },
];

/** The last ten minutes: bytes, queue and round trip, and the part that the diagram shows. */
export function Strips({ inspector }: { readonly inspector: Inspector }) {
  const seconds = inspector.diagram.totals.all();
  const begin = beginOf(inspector);
  const { now, end, diagram } = inspector;
  const share = (t: number): number => Math.min(100, Math.max(0, (100 * (t - begin)) / Math.max(1, now - begin)));
  const left = share(end - diagram.view.span);
  return (
    <section class="past" aria-label="The last ten minutes">
      <Legend />
      <div class="strips">
        {STRIPS.map((strip) => (
          <>
            <h2>
              {strip.title}
              <small>{strip.text(seconds.at(-2))}</small>
            </h2>
            <Plot strip={strip} seconds={seconds} begin={begin} end={now} />
          </>
        ))}
        <div
          class="brush"
          role="slider"
          tabIndex={0}
          aria-label="The time that the diagram shows"
          aria-valuemin={Math.round(begin)}
          aria-valuemax={Math.round(now)}
          aria-valuenow={Math.round(end)}
          aria-valuetext={`${clockText(Math.max(0, end - diagram.view.span), 1)} to ${clockText(end, 1)}`}
          onPointerDown={(event) => drag(inspector, event)}
          onPointerMove={(event) => event.buttons === 1 && drag(inspector, event)}
          onKeyDown={(event) => step(inspector, event)}
        >
          <div style={{ left: `${left}%`, width: `${share(end) - left}%` }} />
        </div>
      </div>
    </section>
  );
}

function beginOf({ now, diagram }: Inspector): number {
  const [first] = diagram.totals.all();
  return Math.max(now - LONGEST_MS, Math.min((first?.at ?? 0) * 1_000, now - SHORTEST_MS));
}

/** Moves the middle of the picture under the pointer. */
function drag(inspector: Inspector, event: PointerEvent & { readonly currentTarget: HTMLElement }): void {
  event.currentTarget.setPointerCapture(event.pointerId);
  const { left, width } = event.currentTarget.getBoundingClientRect();
  const begin = beginOf(inspector);
  const t = begin + ((event.clientX - left) / width) * (inspector.now - begin);
  inspector.moveTo(t + inspector.diagram.view.span / 2);
}

function step(inspector: Inspector, event: KeyboardEvent): void {
  const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (direction === undefined) return;
  inspector.moveTo(inspector.end + (direction * inspector.diagram.view.span) / 4);
  event.preventDefault();
}

interface PlotProps {
  readonly strip: Strip;
  readonly seconds: readonly (Second & { readonly at: number })[];
  readonly begin: number;
  readonly end: number;
}

function Plot({ strip, seconds, begin, end }: PlotProps) {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const drawn = useRef(-1);
  useEffect(() => {
    const holder = element.current;
    if (holder === null) return undefined;
    const made = new uPlot(optionsOf(strip, holder), [[]], holder);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: holder.clientWidth, height: HEIGHT }));
    observer.observe(holder);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => made.redraw();
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      observer.disconnect();
      made.destroy();
    };
  }, [strip]);
  useEffect(() => {
    // A second is drawn once it is over.
    const second = Math.floor(end / 1_000);
    if (plot.current === null || drawn.current === second) return;
    drawn.current = second;
    plot.current.setData(dataOf(strip, seconds), false);
    plot.current.setScale('x', { min: begin / 1_000, max: Math.max(begin / 1_000 + 1, end / 1_000) });
  });
  return <div ref={element} aria-hidden="true" />;
}

function dataOf({ values, colours }: Strip, seconds: PlotProps['seconds']): AlignedData {
  const over = seconds.slice(0, -1);
  return [over.map(({ at }) => at + 0.5), ...colours.map((_, index) => over.map((second) => values(second)[index] ?? null))];
}

function optionsOf({ colours }: Strip, holder: Element): Options {
  const colour = (name: string) => (): string => getComputedStyle(holder).getPropertyValue(`--${name}`).trim();
  const fill = (name: string) => (): string => `${colour(name)()}22`;
  return {
    width: Math.max(1, holder.clientWidth),
    height: HEIGHT,
    padding: [4, 0, 2, 0],
    legend: { show: false },
    cursor: { show: false },
    axes: [{ show: false }, { show: false }],
    scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(1, max) * 1.1] } },
    series: [
      {},
      ...colours.map((name) => ({ stroke: colour(name), fill: fill(name), width: 1.25, spanGaps: true, points: { show: false } })),
    ],
  };
}
