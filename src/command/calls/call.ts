import type { ExitStatus } from '../exit.js';
import { calling } from './calling.js';
import { COMMON_HELP } from './settings.js';
import { printPayload, withPeer } from './with-peer.js';

export const help = `rxmux call: sends a request, and prints the answer

USAGE
  rxmux call [options] URL [NAME] [PAYLOAD]

OPTIONS
  --text            the payload is a text, and no JSON
${COMMON_HELP}
EXAMPLES
  rxmux call ws://127.0.0.1:8080 add '{"id":"x"}'
  rxmux call --contract ./api.ts --list
  rxmux call ws://127.0.0.1:8080 '{"op":"sum","of":[1,2]}'
  rxmux call --json -H 'authorization: Bearer s3cret' wss://example.org/mux @query.json
  echo '{"id":"x"}' | rxmux call ws://127.0.0.1:8080 add -
`;

/** Runs `rxmux call`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  return calling(args, { kinds: ['request'] }, (settings, payload) =>
    withPeer(settings, async (peer) => {
      await printPayload(await peer.request(payload), settings);
    }),
  );
}
