import { pacedPing } from '../../session/paced-pings.js';
import { abnormalClose } from '../../transport/transport.js';
import type { CloseReason } from '../../wire/close-reason.js';
import { ConnectionLostError } from '../../wire/stream-errors.js';
import { unheeded } from '../../stream/promises.js';
import type { PeerCore } from '../core.js';

const NOT_OPEN = { ...abnormalClose('the connection is not open'), willRetry: false };

/** Resolves with the round trip of a ping in ms. Like any call, it waits for a connection if one may come. */
export function ping(core: PeerCore): Promise<number> {
  return unheeded((resolve, fail) => {
    pingOnce(core, resolve, fail);
  });
}

function pingOnce(core: PeerCore, answered: (rttMs: number) => void, failed: (error: unknown) => void): void {
  const { lastSession, source, status } = core;
  const lost = (reason: CloseReason): void => {
    failed(new ConnectionLostError(reason));
  };
  if (lastSession !== null) pacedPing(lastSession.control, answered, lost);
  else if (source.expectsSocket) {
    source.ensureDialing();
    status.whenOpened(() => {
      pingOnce(core, answered, failed);
    }, failed);
  } else lost(status.now.state === 'closed' ? status.now.reason : NOT_OPEN);
}
