import { log } from '../../logger.js';
import { steadyNow } from '../../util/time.js';
import { oneLine } from '../../wire/quoted.js';
import { resetCodeName } from '../../wire/codes.js';
import type { ResetCode } from '../../wire/codes.js';

/** The log has one line a minute for each code, over all peers, because a remote can cause refusals at any rate. */
const PERIOD_MS = 60_000;

/** The last line of each code, and the refusals since. */
const lines = new Map<ResetCode, { readonly at: number; more: number }>();

/** Warns of a stream of the remote that the library has refused. Its opener may not listen, for example after a `notify`. */
export function warnOfRefusal(label: string, code: ResetCode, reason: string): void {
  const now = steadyNow();
  const last = lines.get(code);
  if (last !== undefined && now - last.at < PERIOD_MS) {
    last.more++;
    return;
  }
  lines.set(code, { at: now, more: 0 });
  const more = last === undefined || last.more === 0 ? '' : `, and ${last.more} more since the line before`;
  log('warn', `${label} refused a stream with ${resetCodeName(code)}${more}: ${oneLine(reason, 300)}`);
}
