import type { Envelope, Holder, Rig } from './rig.js';

/** Sends `payload` on a stream whenever it has demand, without end. */
export function pull(rig: Rig, stream: Holder, payload: unknown): void {
  const step = (): void => {
    while (!stream.live.hasClosed && stream.live.hasDemand) rig.send(stream, { payload });
    if (!stream.live.hasClosed) stream.live.whenDemand(step);
  };
  stream.live.whenDemand(step);
}

export function turns(rig: Rig, count: number): void {
  for (let turn = 0; turn < count; turn++) rig.transport.nextTurn();
}

/** The remote answers the last ping, which means that it has read everything before that ping. */
export function answer(rig: Rig): void {
  rig.receive({ type: 'pong', nonce: rig.sent.filter(({ type }) => type === 'ping').at(-1)?.nonce ?? '' });
}

/** How many of the frames belong to a stream. */
export function countOf(frames: readonly Envelope[], { live }: Holder): number {
  return frames.filter(({ stream }) => stream === live.id).length;
}
