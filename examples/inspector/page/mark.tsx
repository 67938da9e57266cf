import type { LaneEnd } from '../model/lane.js';

type Marked = LaneEnd | 'open' | 'data' | 'slice' | 'ping' | 'goaway';

const DISC = (radius: number) => <circle cx="6" cy="6" r={radius} />;

/** The shapes of the canvas, as pictures of 12 px. */
const SHAPES: Readonly<Record<Marked, preact.VNode>> = {
  open: DISC(4.5),
  data: DISC(4),
  slice: DISC(2.5),
  completed: <path d="M6 1v10" stroke-width="2" />,
  cancelled: <rect x="2.5" y="2.5" width="7" height="7" />,
  refused: (
    <>
      {DISC(4)}
      <path d="M3.2 3.2l5.6 5.6" />
    </>
  ),
  failed: <path d="M2.5 2.5l7 7m0-7l-7 7" stroke-width="2" />,
  lost: <path d="M3 10l2.5-8m1.5 8l2.5-8" stroke-width="2" />,
  ping: <path d="M1 6h10" stroke-width="5" stroke-opacity="0.5" stroke-linecap="butt" />,
  goaway: <path d="M6 0v12" stroke-width="3" stroke-linecap="butt" />,
};

/** The mark of a frame, or of the end of a stream. */
export function Mark({ of }: { readonly of: Marked }) {
  return (
    <svg class={`mark ${of}`} viewBox="0 0 12 12" aria-hidden="true">
      {SHAPES[of]}
    </svg>
  );
}

const LEGEND: readonly (readonly [of: Marked, words: string])[] = [
  ['open', 'open'],
  ['data', 'data'],
  ['slice', 'slice of a payload'],
  ['completed', 'completed'],
  ['cancelled', 'cancelled'],
  ['refused', 'refused'],
  ['failed', 'failed'],
  ['lost', 'connection lost'],
  ['ping', 'ping and pong'],
  ['goaway', 'goaway'],
];

/** Names each mark of the canvas. */
export function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      {LEGEND.map(([of, words]) => (
        <li>
          <Mark of={of} />
          {words}
        </li>
      ))}
    </ul>
  );
}
