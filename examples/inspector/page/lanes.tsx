import { useEffect, useRef } from 'preact/hooks';
import { AXIS_HEIGHT, ROW_HEIGHT } from '../draw/painter.js';
import { contentText, missingText } from '../model/content.js';
import { clockText, durationText, marbleText } from '../model/describe.js';
import type { Lane } from '../model/lane.js';
import type { Row, Streams } from '../model/rows.js';
import { Content } from './details.js';
import type { Inspector } from './inspector.js';
import { onKey } from './keys.js';
import { Mark } from './mark.js';

/** The width of the names beside the canvas, in px. */
export const NAMES_WIDTH = 168;
const ZOOM_STEP = 1.0015;

interface Props {
  readonly inspector: Inspector;
}

/** The lanes: their names, and the canvas with what lies over it. */
export function Lanes({ inspector }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current === null || frame.current === null) return undefined;
    const detach = inspector.attach(canvas.current);
    const observer = new ResizeObserver(() => resize(inspector, frame.current, canvas.current));
    observer.observe(frame.current);
    return () => {
      observer.disconnect();
      detach();
    };
  }, [inspector]);
  const { rows, diagram } = inspector;
  return (
    <div
      class="diagram"
      ref={frame}
      role="application"
      tabIndex={0}
      aria-label="Streams as marbles over time. Press ? for the keys."
      aria-describedby="summary"
      onKeyDown={(event) => onKey(inspector, event)}
      onScroll={({ currentTarget }) => (inspector.scroll = currentTarget.scrollTop)}
      onPointerMove={(event) => hover(inspector, event)}
      onPointerLeave={() => (inspector.hovered = null)}
      onClick={(event) => click(inspector, event)}
      onWheel={(event) => wheel(inspector, event)}
    >
      <div class="corner">time</div>
      <div class="canvas" style={{ height: `${frame.current?.clientHeight ?? 0}px` }}>
        <canvas ref={canvas} aria-hidden="true" />
        <Overlay inspector={inspector} />
      </div>
      <Names inspector={inspector} />
      {rows.length === 0 && <p class="empty">{emptyText(diagram.timeline.count > 0)}</p>}
    </div>
  );
}

function emptyText(hasFrames: boolean): string {
  return hasFrames ? 'No stream passes the filter in this time.' : 'Waiting for frames. You can also drop a recording here.';
}

function resize({ scene }: Inspector, frame: HTMLDivElement | null, canvas: HTMLCanvasElement | null): void {
  if (frame === null || canvas?.parentElement == null) return;
  canvas.parentElement.style.height = `${frame.clientHeight}px`;
  scene?.resize(frame.clientWidth - NAMES_WIDTH, frame.clientHeight, devicePixelRatio);
}

function Names({ inspector }: { readonly inspector: Inspector }) {
  const { rows, end, scroll, scene, lane: selected, diagram } = inspector;
  const first = Math.max(0, Math.floor(scroll / ROW_HEIGHT) - 1);
  const last = first + Math.ceil((scene?.height ?? 0) / ROW_HEIGHT) + 2;
  return (
    <ul class="names" aria-hidden="true" style={{ height: `${AXIS_HEIGHT + rows.length * ROW_HEIGHT}px` }}>
      {rows.slice(first, last).map((row, index) => {
        const lane = row.laneAt(end);
        if (lane === undefined) return null;
        const streams = row.streams(end - diagram.view.span, end);
        return (
          <li
            class={`${lane.isConnection ? 'connection' : ''} ${lane === selected ? 'selected' : ''}`}
            title={lane.isConnection ? lane.title : titleOf(streams)}
            style={{ top: `${AXIS_HEIGHT + (first + index) * ROW_HEIGHT}px` }}
            onClick={(event) => {
              event.stopPropagation();
              inspector.select(null, lane);
            }}
          >
            <Mark of={lane.end ?? 'open'} />
            {lane.stream !== null && <small>{streams.count > 1 ? `×${streams.count}` : `#${lane.stream}`}</small>}
            <b>{lane.stream === null ? lane.title : namesOf(streams, lane)}</b>
            <Glance inspector={inspector} row={row} />
          </li>
        );
      })}
    </ul>
  );
}

/** The names of the streams that share a row: `search`, or `square 5, search 2`. */
function namesOf({ names }: Streams, { name }: Lane): string {
  if (names.length < 2) return name;
  return names.map(([each, count]) => `${each === '' ? 'no name' : each} ${count}`).join(', ');
}

/** `7 streams in this time: 5 completed, 2 failed`. */
function titleOf({ count, states }: Streams): string {
  const parts = [...states].map(([state, each]) => `${each} ${state}`);
  return `${count} ${count === 1 ? 'stream' : 'streams'} in this time: ${parts.join(', ')}`;
}

/** The newest payload of a row, below its name. */
function Glance({ inspector, row }: { readonly inspector: Inspector; readonly row: Row }) {
  const { end, diagram, hasPayloads, isLive } = inspector;
  const marble = hasPayloads ? row.newestPayload(end - diagram.view.span, end) : null;
  if (marble === null) return null;
  return <span class="glance">{missingText(marble, isLive) === '' ? contentText(marble) : 'not recorded'}</span>;
}

/** The rings around the selected and the hovered marble, and the facts of the hovered one. They move with each drawn frame. */
function Overlay({ inspector }: { readonly inspector: Inspector }) {
  const selected = useRef<HTMLDivElement>(null);
  const hovered = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    inspector.onFrame = () => {
      place(selected.current, inspector.marble === null ? null : (inspector.scene?.placeOf(inspector.marble) ?? null));
      const at = inspector.hovered === null ? null : (inspector.scene?.placeOf(inspector.hovered) ?? null);
      place(hovered.current, at);
      placeTip(tip.current, at, inspector.scene?.width ?? 0);
    };
  }, [inspector]);
  const marble = inspector.hovered;
  return (
    <>
      <div class="ring" ref={selected} hidden />
      <div class="ring hover" ref={hovered} hidden />
      <div class="tip" ref={tip} role="tooltip" hidden>
        {marble !== null && (
          <>
            <strong>{marbleText(marble)}</strong>
            <p>
              {marble.lane.title} · at {clockText(marble.t)} · {durationText(marble.t - marble.lane.openedAt)} after its start ·{' '}
              {durationText(Math.max(0, inspector.now - marble.t))} ago
            </p>
            {inspector.hasPayloads && <Content marble={marble} isLive={inspector.isLive} />}
          </>
        )}
      </div>
    </>
  );
}

type Place = { readonly x: number; readonly y: number } | null;

function place(element: HTMLElement | null, at: Place): void {
  if (element === null) return;
  element.hidden = at === null || at.x < 0 || at.y < AXIS_HEIGHT;
  if (at !== null) element.style.transform = `translate(${at.x}px, ${at.y}px)`;
}

function placeTip(element: HTMLElement | null, at: Place, width: number): void {
  if (element === null) return;
  element.hidden = at === null;
  if (at === null) return;
  const left = Math.max(4, Math.min(at.x - 20, width - 350));
  element.style.transform = `translate(${left}px, ${at.y + 18}px)`;
}

function hover(inspector: Inspector, event: PointerEvent & { readonly currentTarget: HTMLElement }): void {
  const { x, y } = positionOf(event);
  const found = inspector.scene?.marbleAt(x, y) ?? null;
  if (found === inspector.hovered) return;
  inspector.hovered = found;
  inspector.changed();
}

function click(inspector: Inspector, event: MouseEvent & { readonly currentTarget: HTMLElement }): void {
  const { x, y } = positionOf(event);
  const { scene } = inspector;
  const marble = scene?.marbleAt(x, y) ?? null;
  inspector.select(marble, marble?.lane ?? scene?.rowAt(y)?.laneAt(scene.t(x)) ?? null);
}

/** Zooms with a modifier, and moves through time sideways. */
function wheel(inspector: Inspector, event: WheelEvent & { readonly currentTarget: HTMLElement }): void {
  const width = inspector.scene?.width ?? 1;
  if (event.ctrlKey || event.metaKey) inspector.zoom(ZOOM_STEP ** event.deltaY, positionOf(event).x / width);
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
    inspector.moveTo(inspector.end + (event.deltaX / width) * inspector.diagram.view.span);
  else return;
  event.preventDefault();
}

/** The place of the pointer on the canvas. */
function positionOf(event: MouseEvent & { readonly currentTarget: HTMLElement }): { readonly x: number; readonly y: number } {
  const { left, top } = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - left - NAMES_WIDTH, y: event.clientY - top };
}
