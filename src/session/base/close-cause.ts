import type { CloseReason } from '../../wire/close-reason.js';
import { CancelledError, ConnectionLostError, RefusedError, RemoteError, ResetError } from '../../wire/stream-errors.js';
import type { StreamError } from '../../wire/stream-errors.js';
import { ResetCode } from '../../wire/codes.js';

/** The cause that ended a stream. A closed stream remembers exactly one cause. */
export type CloseCause =
  | {
      /** Both sides ended. */
      readonly how: 'ended';
    }
  | {
      /** A reset ended it. */
      readonly how: 'reset';
      /** The actor: this program, this library on its own account, or the remote. */
      readonly by: 'user' | 'library' | 'remote';
      /** Any integer; `null` if the reset carried no code. */
      readonly code: ResetCode | null;
      /** The text beside the code; empty if the reset carried no text. */
      readonly reason: string;
      /** The payload of the reset; `null` if the reset carried none. */
      readonly payload: unknown;
    }
  | {
      /** Its socket ended. */
      readonly how: 'lost';
      /** Why the socket ended. */
      readonly reason: CloseReason;
    };

/** The cause of a stream that ended on both sides. */
export const ENDED: CloseCause = { how: 'ended' };

/** Whether this side had ended. Either the remote had ended too, or the library stopped its unread upload with NO_ERROR. */
export function endedHere(cause: CloseCause | null): boolean {
  return cause?.how === 'ended' || (cause?.how === 'reset' && cause.by === 'library' && cause.code === ResetCode.NO_ERROR);
}

/**
 * The error that a consumer of the stream sees for a cause, or `null` where the stream simply completes.
 *
 * @param unsent whether no frame of the stream ever left, so that the caller may safely repeat the call
 */
export function causeError(cause: CloseCause, streamId: number | null, unsent: boolean): StreamError | null {
  if (cause.how === 'ended') return null;
  if (cause.how === 'lost') return new ConnectionLostError(cause.reason, { streamId, retriable: unsent });
  const { code, reason, payload, by } = cause;
  if (code === ResetCode.APPLICATION_ERROR) return new RemoteError(reason, payload, { streamId });
  if (code === ResetCode.REFUSED) return new RefusedError(reason, by === 'remote' ? code : null, { streamId });
  if (code === ResetCode.CANCEL && by !== 'remote') return new CancelledError(reason === '' ? 'cancelled' : reason, { streamId });
  return new ResetError(code, reason, payload, { streamId });
}
