import { checkNumber, checkSmall } from './checks.js';
import { readStream } from './context.js';
import type { AnsweredBy } from '../harness/adapter.js';
import type { TaskContext } from './context.js';

interface Shape {
  readonly streams: number;
  readonly items: number;
  /** Default: by an iterable. */
  readonly by?: AnsweredBy;
}

/** Streams of small items from the server, all at once. */
export async function streams({ client }: TaskContext, { streams: count, items, by = 'iterable' }: Shape) {
  const begun = performance.now();
  const one = async (): Promise<void> => {
    let received = 0;
    await readStream(client, { items, by }, (item) => {
      checkSmall(item, received++);
    });
    checkNumber(received, items);
  };
  await Promise.all(Array.from({ length: count }, one));
  return { items: count * items, perSecond: (count * items) / ((performance.now() - begun) / 1_000) };
}

/** Opens streams that stay open and send nothing. Resolves when the last open is on its way. */
export async function idle({ client }: TaskContext, { count, by }: { readonly count: number; readonly by?: AnsweredBy | undefined }) {
  // Each stream has a reader of its own, as in an application.
  let received = 0;
  for (let n = 0; n < count; n++) {
    client.stream(by === undefined ? { items: 0 } : { items: 0, by }, {
      next: () => {
        received++;
      },
      error: failed,
      complete: failed,
    });
    if (n % 256 === 255) await client.request(n);
  }
  checkNumber(await client.request(count), count);
  return { count, received };
}

function failed(error?: unknown): never {
  throw new Error('an idle stream has ended', { cause: error });
}
