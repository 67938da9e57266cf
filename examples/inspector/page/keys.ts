import { asCommand, asTest } from '../model/copy.js';
import { acrossRows, alongRow, nearest } from '../model/walk.js';
import type { Place } from '../model/walk.js';
import type { Inspector } from './inspector.js';
import { toggleHelp } from './page.js';

type Act = (inspector: Inspector) => void;

const ACTS: Readonly<Record<string, Act>> = {
  ArrowLeft: (inspector) => walk(inspector, (place) => alongRow(place, -1)),
  ArrowRight: (inspector) => walk(inspector, (place) => alongRow(place, 1)),
  ArrowUp: (inspector) => walk(inspector, (place) => across(inspector, place, -1)),
  ArrowDown: (inspector) => walk(inspector, (place) => across(inspector, place, 1)),
  ' ': (inspector) => inspector.togglePause(),
  Home: (inspector) => inspector.moveTo(0),
  End: (inspector) => inspector.moveTo(Infinity),
  PageUp: (inspector) => inspector.moveTo(inspector.end - inspector.diagram.view.span),
  PageDown: (inspector) => inspector.moveTo(inspector.end + inspector.diagram.view.span),
  '+': (inspector) => inspector.zoom(0.5, 0.5),
  '=': (inspector) => inspector.zoom(0.5, 0.5),
  '-': (inspector) => inspector.zoom(2, 0.5),
  f: (inspector) => inspector.toggleFold(),
  p: (inspector) => inspector.togglePayloads(),
  c: (inspector) => {
    if (inspector.lane !== null) inspector.copy(asCommand(inspector.lane, inspector.targetOf(inspector.lane)));
  },
  t: (inspector) => {
    if (inspector.lane !== null) inspector.copy(asTest(inspector.lane));
  },
  Escape: (inspector) => inspector.select(null),
  '?': toggleHelp,
};

/** Answers a key of the diagram. */
export function onKey(inspector: Inspector, event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') (event.currentTarget.getRootNode() as ShadowRoot).querySelector<HTMLInputElement>('input[type=search]')?.focus();
  else if (Object.hasOwn(ACTS, event.key)) ACTS[event.key]?.(inspector);
  else return;
  event.preventDefault();
}

/** Goes to another marble; without a selected one, to the newest that is seen. */
function walk(inspector: Inspector, next: (place: Place) => Place | null): void {
  const { marble } = inspector;
  const place = marble === null ? newest(inspector) : next({ lane: marble.lane, marble });
  if (place !== null) inspector.select(place.marble);
}

function newest({ rows, end, diagram }: Inspector): Place | null {
  for (const row of rows.filter(({ newest: lane }) => lane?.isConnection === false)) {
    const place = nearest(row, end, end - diagram.view.span, end);
    if (place !== null) return place;
  }
  return null;
}

function across({ rows, end, diagram }: Inspector, place: Place, step: 1 | -1): Place | null {
  return acrossRows(place, rows, step, end - diagram.view.span, end);
}
