import { log, logger } from '../../logger.js';
import type { SocketClose } from '../../transport/transport.js';
import { CloseCode } from '../../wire/close-reason.js';
import { quoted } from '../../wire/quoted.js';
import type { PeerStatus } from './status.js';

/** Logs a change of a peer's status at `debug`: a dial, the wait before a dial, a drain, the end. */
export function logStatus(label: string, status: PeerStatus): void {
  if (logger.isEnabledFor('debug')) log('debug', `${label} ${statusLine(status)}`);
}

/** A close as text for a log line: `1001 GOING_AWAY "restart"`. */
export function closeLine({ code, reason, wasClean }: SocketClose): string {
  const [name = ''] = Object.entries(CloseCode).find(([, each]) => each === code) ?? [];
  return [code, name, reason === '' ? '' : quoted(reason), wasClean ? '' : 'without a close handshake']
    .filter((part) => part !== '')
    .join(' ');
}

function statusLine(status: PeerStatus): string {
  switch (status.state) {
    case 'connecting':
      return `connects, attempt ${status.attempt}${status.last === null ? '' : `, after ${closeLine(status.last)}`}`;
    case 'open':
      return `is open${status.reconnects === 0 ? '' : `, sockets before: ${status.reconnects}`}`;
    case 'waiting':
      return `dials again ${status.offline ? 'once there is a network' : `in ${Math.round(status.delayMs)} ms`}, after ${closeLine(status.last)}`;
    case 'draining':
      return `drains: ${status.by === 'local' ? 'close() was called' : 'the remote goes away'}`;
    case 'closed':
      return `is closed: ${closeLine(status.reason)}`;
  }
}
