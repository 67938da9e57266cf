import { setTimeout as pause } from 'node:timers/promises';
import { RefusedError, ResetCode } from 'rxmux';
import type { Stream } from 'rxmux';

/** Answers a stream whose payload is `[name, value]`. */
export type Answer = (value: unknown, stream: Stream) => unknown;

/** The answers to the payloads that `rxmux check` agrees with its target. */
export const AGREED: Readonly<Record<string, Answer>> = {
  'check.echo': (value, stream) => stream.reply(value),
  'check.sink': async (_, stream) => stream.reply(await countOf(stream)),
  'check.hold': async (ms, stream) => {
    await pause(Number(ms), undefined, { signal: stream.signal }).catch(() => undefined);
    return stream.cause === null ? stream.reply(null) : undefined;
  },
  'check.call': async (value, stream) => stream.reply(await outcomeOf(stream.peer.request(value))),
  'check.bye': async (_, stream) => {
    await stream.reply(null);
    void stream.peer.close({ drainMs: 60_000 });
  },
};

async function countOf(stream: AsyncIterable<unknown>): Promise<number> {
  const payloads = stream[Symbol.asyncIterator]();
  let count = 0;
  while ((await payloads.next()).done !== true) count++;
  return count;
}

async function outcomeOf(answer: Promise<unknown>): Promise<readonly [how: string, what: unknown]> {
  try {
    return ['value', await answer];
  } catch (error) {
    if (error instanceof RefusedError) return ['reset', ResetCode.REFUSED];
    return ['reset', (error as { readonly resetCode?: unknown }).resetCode ?? null];
  }
}
