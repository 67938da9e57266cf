import { pullsOf } from '../../session/send/pulls.js';
import { roomIn } from '../../session/send/room.js';
import type { LiveStream } from '../../stream/stream-core.js';

// A closed stream always has room and demand, so that no task waits on it. So does one whose end waits for a socket.

/** Whether a stream can send more without growing a long queue. */
export function hasRoom(stream: LiveStream): boolean {
  const { session, waiting } = stream;
  if (waiting !== null) return stream.sealed || waiting.hasRoom;
  return stream.closed || (session !== null && roomIn(session.scheduler.backlog).hasRoom(Number(stream.id)));
}

/** Runs `task` once there is room, or once the stream has ended. */
export function whenRoom(stream: LiveStream, task: () => void): void {
  const { session, waiting } = stream;
  if (hasRoom(stream)) {
    task();
    return;
  }
  // After the wait the stream may be on another socket.
  const again = (): void => {
    whenRoom(stream, task);
  };
  if (waiting !== null) waiting.addTask(again);
  else if (session !== null) roomIn(session.scheduler.backlog).add(Number(stream.id), again);
}

/** Whether a frame sent now leaves at once, so that it is time to pull the next value. The frames of a waiting stream never do. */
export function hasDemand(stream: LiveStream): boolean {
  const { session, waiting } = stream;
  if (waiting !== null) return stream.sealed;
  return stream.closed || (session !== null && pullsOf(session.scheduler).hasDemand(Number(stream.id)));
}

/** Runs `task` once a frame would leave at once, or once the stream has ended. */
export function whenDemand(stream: LiveStream, task: () => void): void {
  const { session, waiting } = stream;
  if (stream.closed || (waiting !== null && stream.sealed)) task();
  else if (waiting !== null) waiting.addTask(task);
  else if (session !== null) pullsOf(session.scheduler).whenDemand(Number(stream.id), task);
}

/** Returns whether the queues of all streams are so full that a value of `bytes` must fail if it did not wait for room. */
export function overflowsWith(stream: LiveStream, bytes: number): boolean {
  const { session, waiting } = stream;
  if (waiting !== null) return waiting.overflowsWith(bytes);
  return session !== null && roomIn(session.scheduler.backlog).overflowsWith(Number(stream.id), bytes);
}
