import { log } from '../../logger.js';
import type { CloseCause } from '../base/close-cause.js';
import { runAll } from '../base/waiters.js';
import type { Unsent } from '../send/backlog.js';
import type { LiveStream } from '../../stream/stream-core.js';
import type { LiveStreamHost } from './live-stream-host.js';

/** The socket takes no more frames of a stream. An unsent stream waits for the next socket, if one will come. Any other stream ends. */
export function loseSocket(session: LiveStreamHost, stream: LiveStream, cause: CloseCause): void {
  if (stream.closed) return;
  const queued = session.scheduler.backlog.takeUnsent(Number(stream.id));
  if (stream.unsent && waitsAgain(session, stream, queued)) return;
  stream.advance('close');
  stream.close();
  stream.release(cause);
  runAll(queued.waiters);
}

/** Takes a stream from its socket, with its frames and tasks. Returns `false` if no other socket will come. */
function waitsAgain(session: LiveStreamHost, stream: LiveStream, unsent: Unsent): boolean {
  const id = Number(stream.id);
  stream.restart();
  try {
    if (!stream.requeue(unsent)) return false;
  } catch (error) {
    log('error', `stream ${id}: internal error`, error);
    return false;
  }
  stream.close();
  stream.session = stream.id = null;
  // The next socket counts it again.
  session.owner.tally.opened--;
  releaseTasks(session, stream, id);
  return true;
}

/** Runs the tasks that waited on a stream which has left its socket, and notifies the drain. */
export function releaseTasks({ notifications, scheduler, closing }: LiveStreamHost, stream: LiveStream, id: number): void {
  if (stream.isNotification) notifications.ended(stream);
  scheduler.release(id);
  closing.streamReleased();
}
