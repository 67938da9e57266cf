import { ConnectionLostError } from 'rxmux';
import type { ExitStatus } from '../exit.js';
import { calling } from './calling.js';
import { COMMON_HELP } from './settings.js';
import { withPeer } from './with-peer.js';

export const help = `rxmux push: sends a notification, and waits for no answer

USAGE
  rxmux push [options] URL [NAME] [PAYLOAD]

It ends once the remote has read it, and the connection has closed. Nothing
says whether it was taken.

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
    withPeer(settings, async (peer) => {
      peer.notify(payload);
      // Only the close shows that the remote has read it. Some remotes say no code, which is 1005.
      const reason = await peer.close({ drainMs: settings.timeoutMs });
      if (![1000, 1005].includes(reason.code)) throw new ConnectionLostError(reason);
    }),
  );
}
