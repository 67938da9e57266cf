import { describe, expect, it } from '@jest/globals';
import { ResetCode } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import type { PairOptions } from '../../../src/testing.js';
import { dialing, SOON } from '../../support/peer/dialing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import type { Dialed } from '../../support/peer/network.js';
import { stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const KIB = 1024;

/** A payload of `kib` KiB that begins with its number. */
const numbered = (n: number, kib: number): string => `${n}:${'x'.repeat(kib * KIB)}`;
const numberOf = (payload: unknown): number => Number(String(payload).split(':')[0]);

/** The numbers that a peer receives, in order. */
function seenBy(peer: Peer): readonly number[] {
  const seen: number[] = [];
  peer.onStream((payload, stream) => {
    seen.push(numberOf(payload));
    return stream.reply(numberOf(payload));
  });
  return seen;
}

function pairOf(options?: PairOptions) {
  const pair = createPair(options);
  return { ...pair, seen: seenBy(pair.acceptor) };
}

describe('Notifications of one peer', () => {
  it.each<[string, readonly number[]]>([
    ['big and small in turn', [300, 0, 300, 0, 300, 0]],
    ['small, big and large in turn', [0, 100, 40, 600, 0, 0, 70, 1]],
    ['of a size close to one message', [64, 63, 65, 0, 64]],
  ])('Notifications are handled in the order of their calls: %s', async (_what, sizes) => {
    const { dialer, seen } = pairOf();
    sizes.forEach((kib, n) => {
      dialer.notify(numbered(n, kib));
    });
    await time.advance(1_000);
    expect(seen).toEqual([...sizes.keys()]);
  });

  it('Notifications of the acceptor are handled in order', async () => {
    const { dialer, acceptor } = createPair();
    const seen = seenBy(dialer);
    acceptor.notify(numbered(0, 300));
    acceptor.notify(numbered(1, 0));
    await time.advance(1_000);
    expect(seen).toEqual([0, 1]);
  });

  it('A request overtakes notifications, and ids still rise in the order of the opens', async () => {
    const { dialer, seen } = pairOf();
    const sent = framesOf(dialer);
    dialer.notify(numbered(0, 600));
    dialer.notify(numbered(1, 0));
    const answer = dialer.request(numbered(2, 0));
    await time.advance(1_000);
    expect(await answer).toBe(2);
    expect(seen).toEqual([2, 0, 1]);
    expect([...new Set(sent.filter(({ type }) => type === 'open').map(({ stream }) => stream))]).toEqual([1, 3, 5]);
  });

  it('Notifications share one turn: a transfer beside them sends every other slice', async () => {
    const { dialer } = pairOf();
    const sent = framesOf(dialer);
    for (const n of [0, 1, 2, 3]) dialer.notify(numbered(n, 300));
    const transfer = dialer.open(numbered(4, 300), { end: true });
    await time.advance(1_000);
    const opened = sent.filter(({ type }) => type === 'open').map(({ stream }) => stream);
    const turns = opened.slice(opened.indexOf(transfer.id), opened.lastIndexOf(transfer.id) + 1).map((id) => id === transfer.id);
    expect(turns).toEqual([true, false, true, false, true, false, true, false, true]);
  });

  it('Waiting notifications count as buffered', () => {
    const { dialer } = pairOf();
    dialer.notify(numbered(0, 300));
    const before = dialer.bufferedAmount;
    dialer.notify(numbered(1, 50));
    expect(dialer.bufferedAmount - before).toBeGreaterThanOrEqual(50 * KIB);
  });

  it('Notifications leave before a clean close', async () => {
    const { dialer, seen } = pairOf();
    [300, 0, 300, 0].forEach((kib, n) => {
      dialer.notify(numbered(n, kib));
    });
    const closed = dialer.close();
    dialer.notify(numbered(9, 0));
    await time.advance(1_000);
    expect(await closed).toMatchObject({ code: 1000, wasClean: true });
    expect(seen).toEqual([0, 1, 2, 3]);
    expect(logs.warnings).toEqual(['rxmux: 1 notify() never left: this peer opens no more streams']);
  });

  it('Notifications continue after the remote has reset one of them', async () => {
    const { dialer, acceptor, seen } = pairOf({ limits: { maxPayloadBytes: 200 * KIB } });
    dialer.notify(numbered(0, 1_000));
    dialer.notify(numbered(1, 0));
    await time.advance(1_000);
    expect(seen).toEqual([1]);
    expect(acceptor.status.state).toBe('open');
  });

  it('A goaway without a redial drops waiting notifications with a warning', async () => {
    const { dialer, acceptor } = pairOf();
    dialer.notify(numbered(0, 1_000));
    dialer.notify(numbered(1, 0));
    void acceptor.close();
    await time.advance(1_000);
    expect(logs.warnings).toEqual(['rxmux: 1 notify() never left: the remote went away']);
  });

  it('A lost connection without a redial drops waiting notifications with a warning', async () => {
    const { dialer, link } = pairOf();
    dialer.notify(numbered(0, 1_000));
    dialer.notify(numbered(1, 0));
    dialer.notify(numbered(2, 0));
    link.cut();
    await time.advance(1_000);
    expect(logs.warnings).toEqual(['rxmux: 2 notify() never left: the connection was lost']);
  });
});

describe('Notifications across sockets', () => {
  /** A dialing peer, and the numbers that its servers receive. */
  function redialing() {
    const seen: number[] = [];
    const network = new Network({
      onStream: (payload, stream) => {
        if (payload === 'held') return stays(payload, stream);
        seen.push(numberOf(payload));
        return stream.reply(numberOf(payload));
      },
    });
    return { network, seen, peer: dialing(network, { reconnect: SOON }) };
  }

  it('Notifications that wait for a connection are handled in the order of their calls', async () => {
    const { peer, seen } = redialing();
    const sizes = [300, 0, 300, 0, 0];
    sizes.forEach((kib, n) => {
      peer.notify(numbered(n, kib));
    });
    const answer = peer.request(numbered(5, 0));
    await time.advance(1_000);
    expect(await answer).toBe(5);
    expect(seen).toEqual([5, ...sizes.keys()]);
  });

  it.each<[string, (remote: Dialed) => void, readonly number[]]>([
    ['a lost socket', ({ link }) => link.cut(), [1, 2, 3, 4, 5]],
    ['a goaway', ({ peer }) => void peer.close({ drainMs: 60_000 }), [1, 2, 3, 5]],
    ['a goaway with an error', ({ peer }) => void peer.close({ code: ResetCode.INTERNAL_ERROR }), [1, 2, 3, 4, 5]],
  ])('Unsent notifications move to the next socket in the order of their calls, after %s', async (_what, end, expected) => {
    const { network, peer, seen } = redialing();
    await time.advance(10);
    const first = network.last;
    peer.open('held').subscribe({
      error: () => {
        peer.notify(numbered(4, 0));
      },
    });
    await time.advance(10);
    first.link.stall('acceptor');
    [3_000, 0, 300, 0].forEach((kib, n) => {
      peer.notify(numbered(n, kib));
    });
    await time.advance(1);
    end(first);
    await time.advance(20);
    peer.notify(numbered(5, 0));
    await time.advance(5_000);
    expect(seen).toEqual(expected);
  });
});
