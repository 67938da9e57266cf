import type { AnsweredBy } from '../harness/adapter.js';
import { small } from '../harness/payloads.js';
import { checkNumber, checkSmall } from './checks.js';
import type { TaskContext } from './context.js';

let subscribers = 0;
let receive: (value: unknown) => void = () => undefined;

/** Subscribes connections to the feed of the server. They stay subscribed. */
export async function subscribe(
  { connect }: TaskContext,
  { count, by = 'observable' }: { readonly count: number; readonly by?: AnsweredBy },
) {
  for (let n = 0; n < count; n++) {
    const client = await connect();
    client.stream(
      { items: 0, feed: true, by },
      {
        next: (value) => {
          receive(value);
        },
        error: failed,
        complete: failed,
      },
    );
    // The server has the subscription by the time of its reply.
    checkSmall(await client.request(small(n)), n);
    subscribers++;
  }
  return { subscribers };
}

/** Publishes values, each once all subscribers have received the one before. */
export async function fanOut({ client }: TaskContext, { values, bytes }: { readonly values: number; readonly bytes: number }) {
  const begun = performance.now();
  for (let n = 0; n < values; n++) await Promise.all([delivered(n), client.request({ publish: n, bytes })]);
  const deliveries = values * subscribers;
  return { deliveries, perSecond: deliveries / ((performance.now() - begun) / 1_000) };
}

/** Resolves once every subscriber has received the `n`th value. */
function delivered(n: number): Promise<void> {
  let left = subscribers;
  return new Promise((resolve, reject) => {
    receive = (value) => {
      try {
        checkNumber((value as { readonly n?: unknown } | null)?.n, n);
      } catch (error) {
        reject(error);
      }
      if (--left === 0) resolve();
    };
  });
}

function failed(error?: unknown): never {
  throw new Error('a subscription has ended', { cause: error });
}
