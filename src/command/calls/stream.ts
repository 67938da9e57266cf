import type { ExitStatus } from '../exit.js';
import { wholeOf } from '../headers.js';
import { calling } from './calling.js';
import { COMMON_HELP } from './settings.js';
import { printPayload, withPeer } from './with-peer.js';

export const help = `rxmux stream: opens a stream, and prints each payload that comes

USAGE
  rxmux stream [options] URL [NAME] [PAYLOAD]

OPTIONS
  --take N          cancel the stream after N payloads (default: go on to
                    its end)
  --text            the payload is a text, and no JSON
${COMMON_HELP}
EXAMPLES
  rxmux stream --take 3 ws://127.0.0.1:8080 '{"op":"ticks"}'
  rxmux stream --json wss://example.org/mux orders.watch | jq .payload
`;

/** Runs `rxmux stream`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  return calling(args, { kinds: ['stream', 'request'], options: { take: { type: 'string' } } }, (settings, payload) => {
    const { take: most } = settings.own;
    const count = typeof most === 'string' ? wholeOf('take', most, 1, Number.MAX_SAFE_INTEGER) : Infinity;
    return withPeer(settings, async (peer) => {
      const stream = peer.open(payload);
      // The loop reports why a stream has failed.
      void stream.end().catch(() => undefined);
      let left = count;
      for await (const item of stream) {
        await printPayload(item, settings);
        if (--left === 0) break;
      }
    });
  });
}
