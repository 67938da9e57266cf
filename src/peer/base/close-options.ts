import { checkNumber, checkObject, checkReset } from '../../wire/check.js';
import { asGiven, readOptions, refuseUnknown } from '../../util/check.js';
import type { Options } from '../../util/check.js';
import { ResetCode } from '../../wire/codes.js';

/** Options of closing a peer, or a server with all its peers. */
export interface CloseOptions {
  /** How long live streams may go on, in ms; `Infinity` sets no limit. Default 0. */
  readonly drainMs?: number | undefined;
  /** Code of the goaway. After any other than NO_ERROR the remote closes the socket itself 1 s later (C7). Default 0, NO_ERROR. */
  readonly code?: ResetCode | undefined;
  /** Text of the goaway, cut to 1 024 bytes, and of the close frame, cut to 123 (R4). Default `''`. */
  readonly reason?: string | undefined;
}

/** {@link CloseOptions}, checked and with defaults. */
export interface ResolvedClose {
  readonly drainMs: number;
  readonly code: ResetCode;
  readonly reason: string;
}

/** Declares {@link CloseOptions}. */
export const CLOSE_OPTIONS: Options<CloseOptions, ResolvedClose> = {
  drainMs: [checkNumber, 0],
  code: [asGiven, ResetCode.NO_ERROR],
  reason: [asGiven, ''],
};

/** @throws TypeError naming the option */
export function resolveClose(options: CloseOptions): ResolvedClose {
  refuseUnknown('close', checkObject('close', options, '{ drainMs, code, reason }'), CLOSE_OPTIONS);
  const resolved = readOptions(CLOSE_OPTIONS, options);
  checkReset('close', resolved.code, resolved.reason);
  return resolved;
}
