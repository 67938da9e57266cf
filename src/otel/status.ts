import type { CloseCause } from '../stream/end.js';
import { ResetCode, resetCodeName } from '../wire/codes.js';

/** The side of a stream that a span describes. */
export type SpanSide = 'client' | 'server';

/** The end of a stream, as a span and its measurements show it. */
export interface CallStatus {
  /** The value of `rpc.status_code`. */
  readonly code: string;
  /** Whether the end counts as an error of this side. */
  readonly isError: boolean;
  /** The text of a reset; empty for none. */
  readonly reason: string;
}

const OK: CallStatus = { code: 'OK', isError: false, reason: '' };
const KNOWN: ReadonlySet<number> = new Set(Object.values(ResetCode));
/** Resets by this side that are no error of a server. */
const BENIGN: ReadonlySet<ResetCode | null> = new Set([ResetCode.CANCEL, ResetCode.REFUSED]);

/** Returns the status of a stream that has ended. */
export function statusOf(cause: CloseCause, side: SpanSide): CallStatus {
  if (cause.how === 'ended') return OK;
  if (cause.how === 'lost') return { code: 'CONNECTION_LOST', isError: side === 'client', reason: cause.reason.reason };
  const { by, code, reason } = cause;
  // The answer stands: it only stops an upload.
  if (code === ResetCode.NO_ERROR) return OK;
  const isOwn = by !== 'remote';
  const isError = side === 'client' ? !(isOwn && code === ResetCode.CANCEL) : isOwn && !BENIGN.has(code);
  return { code: codeName(code, side === 'server' && !isOwn), isError, reason };
}

/** Names a code. A client may send any integer, so a server names an unknown one `OTHER`: each name is a series of its metrics. */
function codeName(code: ResetCode | null, isClients: boolean): string {
  if (code === null) return 'NO_CODE';
  return isClients && !KNOWN.has(code) ? 'OTHER' : resetCodeName(code);
}
