import { objects, text } from '../harness/payloads.js';
import type { Small } from '../harness/payloads.js';
import { checkNumber, checkSmall, checkText } from './checks.js';
import type { TaskContext } from './context.js';

interface Bulk {
  readonly way: 'up' | 'down' | 'objects';
  readonly bytes: number;
  readonly times: number;
}

/** One large payload after the other. */
export async function bulk({ client }: TaskContext, { way, bytes, times }: Bulk) {
  const once = ways[way](bytes);
  const begun = performance.now();
  for (let n = 0; n < times; n++) await once(client);
  return { megabytesPerSecond: (bytes * times) / 1e6 / ((performance.now() - begun) / 1_000) };
}

const ways: Record<Bulk['way'], (bytes: number) => (client: TaskContext['client']) => Promise<void>> = {
  up: (bytes) => {
    const payload = text(bytes);
    return async (client) => {
      checkNumber(await client.request(payload), bytes);
    };
  },
  down: (bytes) => async (client) => {
    checkText(await client.request({ text: bytes }), bytes);
  },
  objects: (bytes) => {
    const payload = objects(bytes);
    return async (client) => {
      const reply = (await client.request(payload)) as readonly Small[];
      checkNumber(reply.length, payload.length);
      reply.forEach(checkSmall);
    };
  },
};
