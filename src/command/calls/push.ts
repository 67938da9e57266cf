import type { ExitStatus } from '../exit.js';
import { calling } from './calling.js';
import { COMMON_HELP } from './settings.js';
import { withPeer } from './with-peer.js';

export const help = `rxmux push: sends a notification, and waits for no answer

USAGE
  rxmux push [options] URL [NAME] [PAYLOAD]

It ends once the remote has read the notification and the connection has
closed. The remote never says whether it took the notification.

OPTIONS
  --text            the payload is a text, and no JSON
${COMMON_HELP}
EXAMPLES
  rxmux push ws://127.0.0.1:8080 seen '{"id":7}'
  rxmux push ws://127.0.0.1:8080 '{"op":"seen","id":7}'
`;

/** Runs `rxmux push`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  return calling(args, { kinds: ['request'] }, (settings, payload) =>
    withPeer(
      settings,
      (peer) => {
        peer.notify(payload);
        return Promise.resolve();
      },
      true,
    ),
  );
}
