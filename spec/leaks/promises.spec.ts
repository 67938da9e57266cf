import { describe, expect, it } from '@jest/globals';
import type { Peer, Stream } from '../../src/index.js';
import { ResetCode } from '../../src/index.js';
import { counting } from '../support/peer/counting.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { joined, LONGEST_WATCH_MS, surplus } from './scene.js';
import type { Scene } from './scene.js';

const time = virtualPeerTime();
const counts = counting(time);
collectLogs();

/** A call with a promise or without a result. Its stream is the newest of the scene's other side. */
interface Way {
  readonly what: string;
  readonly call: (scene: Scene) => Promise<unknown>;
  /** Ends the call when its own end does not. */
  readonly afterwards?: (scene: Scene) => void;
}

const opened = ({ asking, abort }: Scene, end = true): Stream => asking.open('p', { end, signal: abort.signal, timeoutMs: 20_000 });

async function loop(stream: Stream, enough: (value: unknown) => boolean): Promise<void> {
  for await (const value of stream) if (enough(value)) break;
}

const WAYS: readonly Way[] = [
  { what: 'request', call: ({ asking, abort }) => asking.request('p', { signal: abort.signal, timeoutMs: 20_000 }) },
  {
    what: 'request with retry',
    call: ({ asking, abort }) => asking.request('p', { signal: abort.signal, timeoutMs: 20_000, retry: 'safe' }),
  },
  { what: 'a loop over a stream', call: (scene) => loop(opened(scene), () => false) },
  { what: 'a loop that is left at the first value', call: (scene) => loop(opened(scene), () => true) },
  {
    what: 'a loop whose body throws',
    call: (scene) =>
      loop(opened(scene), () => {
        throw new Error('the body');
      }),
  },
  { what: 'a stream’s closed', call: (scene) => opened(scene).closed },
  {
    what: 'send and end',
    async call(scene) {
      const stream = opened(scene, false);
      stream.subscribe({ error: () => undefined });
      await stream.send('x'.repeat(300_000));
      await stream.end();
    },
  },
  {
    what: 'a send that waits for room',
    async call(scene) {
      const stream = opened(scene, false);
      stream.subscribe({ error: () => undefined });
      await scene.asking.ping();
      scene.link().stall('acceptor');
      await Promise.all(Array.from({ length: 40 }, () => stream.send('x'.repeat(64 * 1024))));
      await stream.end();
    },
    afterwards: ({ link }) => link().resume('acceptor'),
  },
  {
    what: 'sendAll',
    call(scene) {
      const stream = opened(scene, false);
      stream.subscribe({ error: () => undefined });
      return stream.sendAll(scene.input$);
    },
  },
];

interface Ending {
  readonly how: string;
  readonly end: (scene: Scene) => void;
  readonly connection?: true;
}

const ENDINGS: readonly Ending[] = [
  {
    how: 'is answered',
    end({ answer$, finish }) {
      answer$.next('value');
      answer$.complete();
      finish();
    },
  },
  {
    how: 'is answered twice',
    end({ answer$, finish }) {
      answer$.next('value');
      answer$.next('value');
      answer$.complete();
      finish();
    },
  },
  { how: 'fails at the other side', end: ({ answer$ }) => answer$.error(new Error('the answer')) },
  { how: 'is reset', end: ({ remote }) => remote().reset(ResetCode.CANCEL, 'the remote') },
  { how: 'is aborted', end: ({ abort }) => abort.abort() },
  { how: 'runs out of time', end: () => undefined },
  { how: 'loses its connection', connection: true, end: ({ link }) => link().cut() },
  { how: 'has its peer closed', connection: true, end: ({ asking }) => void asking.close() },
  { how: 'has the other peer closed', connection: true, end: ({ asked }) => void asked().close() },
];

describe.each(WAYS)('$what', ({ what, call, afterwards }) => {
  it.each(ENDINGS)(`The call '${what}' holds nothing on either side when it $how`, async ({ end, connection }) => {
    const empty = counts.held();
    const scene = joined(counts);
    await time.advance();
    const before = connection === true ? empty : counts.held();
    const outcome = settled(call(scene));
    await time.advance();
    expect(surplus(before, counts.held())).toHaveProperty('streams');
    end(scene);
    await time.advance();
    afterwards?.(scene);
    await time.advance(connection === true ? 0 : LONGEST_WATCH_MS);
    await outcome;
    expect(surplus(before, counts.held())).toEqual({});
  });
});

describe('a promise of a peer', () => {
  it.each<[string, (peer: Peer) => Promise<unknown>]>([
    ['ping', (peer) => peer.ping()],
    ['opened', (peer) => peer.opened],
    ['closed', (peer) => peer.closed],
    ['close', (peer) => peer.close()],
  ])('A promise of a peer holds nothing once it has settled: %s', async (_name, promised) => {
    const empty = counts.held();
    const { asking } = joined(counts);
    const outcome = settled(promised(asking));
    await time.advance();
    void asking.close();
    await time.advance(LONGEST_WATCH_MS);
    await outcome;
    expect(surplus(empty, counts.held())).toEqual({});
  });

  it('A pending ping holds only itself while the connection lives', async () => {
    const { asking } = joined(counts);
    await time.advance();
    const before = counts.held();
    const pings = Promise.all([asking.ping(), asking.ping()]);
    await time.advance();
    await pings;
    expect(surplus(before, counts.held())).toEqual({});
  });

  it('A peer has one promise closed, however often a program reads it', async () => {
    const { asking } = joined(counts);
    await time.advance();
    const first = asking.closed;
    const before = counts.held();
    const asked = Array.from({ length: 100 }, () => asking.closed);
    expect([new Set(asked).size, asked[0] === first, surplus(before, counts.held())]).toEqual([1, true, {}]);
  });
});
