import type { Session } from '../session/session.js';
import { abnormalClose } from '../transport/transport.js';
import { ConnectionLostError } from '../wire/stream-errors.js';
import { disown, rejected } from './guard.js';
import type { PeerCore } from './peer-core.js';

const NOT_OPEN = { ...abnormalClose('the connection is not open'), willRetry: false };

/** The round trip of a ping in ms. As any call does, it waits for the connection where there may be one. */
export function ping(core: PeerCore): Promise<number> {
  const { lastSession, source } = core;
  if (lastSession !== null) return disown(answered(lastSession));
  if (!source.expectsSocket) {
    const { now } = core.status;
    return rejected(new ConnectionLostError(now.state === 'closed' ? now.reason : NOT_OPEN));
  }
  source.ensureDialing();
  return disown(core.status.opened.then(() => ping(core)));
}

function answered({ control }: Session): Promise<number> {
  return new Promise((resolve, reject) => {
    control.ping(resolve, (reason) => {
      reject(new ConnectionLostError(reason));
    });
  });
}
