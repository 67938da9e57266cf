import { filter, firstValueFrom, interval, lastValueFrom, range, take, toArray } from 'rxjs';
import { ResetError } from 'rxmux';
import type { Peer, StreamHandler } from 'rxmux';

/** One call, checked to its end. Throws when its outcome is wrong. */
export type Call = (peer: Peer, nth: number) => Promise<void>;

const FRAGMENTED = 'x'.repeat(300_000);
const QUOTA_USED_UP = 300;
const IN_STREAM = 200;

/** Answers every kind of call. */
export const answer: StreamHandler = async (payload: { readonly op: string }, stream) => {
  switch (payload.op) {
    case 'echo':
      return stream.reply(payload, { headers: { seen: 'yes' }, trailers: { done: 'yes' } });
    case 'count':
      return stream.sendAll(range(IN_STREAM));
    case 'ticks':
      return stream.sendAll(interval(1));
    case 'upload': {
      let characters = 0;
      for await (const value of stream) characters += String(value).length;
      return stream.reply(characters);
    }
    case 'leave':
      await stream.reply();
      void stream.peer.close();
      return;
    case 'reset':
      stream.reset(QUOTA_USED_UP, 'quota used up', { op: payload.op });
      return;
    default:
      throw new RangeError(`no ${payload.op}`);
  }
};

/** The calls of one round. */
export const ROUND: readonly Call[] = [
  async (peer, nth) => {
    const asked = Array.from({ length: 20 }, (_, place) => ({ op: 'echo', nth, place }));
    same(await Promise.all(asked.map((payload) => peer.request(payload, { headers: { nth: String(nth) } }))), asked);
  },
  async (peer) => {
    const values = await firstValueFrom(peer.open$<number>({ op: 'count' }).pipe(toArray()));
    same(
      values,
      Array.from({ length: IN_STREAM }, (_, place) => place),
    );
  },
  async (peer) => {
    same(await lastValueFrom(peer.open$<number>({ op: 'ticks' }).pipe(take(2))), 1);
  },
  async (peer) => {
    const upload = peer.open<number, string>({ op: 'upload' });
    await upload.sendAll([FRAGMENTED, 'y', FRAGMENTED]);
    same(await firstValueFrom(upload), 2 * FRAGMENTED.length + 1);
  },
  async (peer, nth) => {
    const cancelled = new AbortController();
    const asked = peer.request({ op: 'upload' }, { signal: cancelled.signal });
    cancelled.abort(new Error(`round ${nth}`));
    same(await codeOf(asked), 'CANCELLED');
  },
  async (peer) => {
    same(await codeOf(peer.request({ op: 'reset' })), QUOTA_USED_UP);
    same(await codeOf(peer.request({ op: 'nothing' })), 'REMOTE');
  },
  async (peer) => {
    const { status } = peer;
    const before = status.state === 'open' ? status.reconnects : -1;
    await peer.request({ op: 'leave' });
    await firstValueFrom(peer.status$.pipe(filter((now) => now.state === 'open' && now.reconnects > before)));
  },
];

/** Resolves with the code of a failure: an application's reset code, or the error's code. */
async function codeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return 'nothing';
  } catch (error) {
    return error instanceof ResetError ? error.resetCode : (error as { readonly code?: unknown }).code;
  }
}

function same(actual: unknown, expected: unknown): void {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (got !== wanted) throw new Error(`expected ${wanted.slice(0, 200)}, got ${got.slice(0, 200)}`);
}
