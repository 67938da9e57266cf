import type { ExitStatus } from '../exit.js';
import { COMMON_HELP, payloadOf, settingsOf } from './settings.js';
import { printPayload, withPeer } from './with-peer.js';

export const help = `rxmux call: sends a request, and prints the answer

USAGE
  rxmux call [options] URL [PAYLOAD]

OPTIONS
  --text            the payload is a text, and no JSON
${COMMON_HELP}
EXAMPLES
  rxmux call ws://127.0.0.1:8080 '{"op":"sum","of":[1,2]}'
  rxmux call --json -H 'authorization: Bearer s3cret' wss://example.org/mux @query.json
  echo '["orders.list"]' | rxmux call ws://127.0.0.1:8080 -
`;

/** Runs `rxmux call`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const settings = settingsOf(args, 1);
  const payload = await payloadOf(settings.rest[0], settings);
  return withPeer(settings, async (peer) => {
    await printPayload(await peer.request(payload), settings);
  });
}
