import { describe, expect, it } from '@jest/globals';
import { interval, switchMap } from 'rxjs';
import type { Observable } from 'rxjs';
import { isMuxError, reopenOnReconnect, ResetCode } from '../../../src/index.js';
import type { ConnectUrl, Peer, Stream } from '../../../src/index.js';
import { ADDRESS, dialing, holding, SOON } from '../../support/peer/dialing.js';
import { Network } from '../../support/peer/network.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

/** The events of a subscription: the code of each library error, each other error, and the completion. */
function toldOf(source$: Observable<unknown>): readonly unknown[] {
  const told: unknown[] = [];
  source$.subscribe({
    error: (error: unknown) => told.push(isMuxError(error) ? error.code : error),
    complete: () => told.push('complete'),
  });
  return told;
}

describe('`reopenOnReconnect` over a peer whose stream calls another peer', () => {
  function twoPeers(url: ConnectUrl = ADDRESS) {
    const ids = new Network({ onStream: (_, stream) => stream.sendAll(interval(100)) });
    const rows = holding();
    return { ids, rows, followed: dialing(ids, { reconnect: SOON }, url), asked: dialing(rows) };
  }

  it.each<[string, string, (rows: Network, asked: Peer) => unknown]>([
    ['loses its connection', 'CONNECTION_LOST', ({ last }) => last.link.cut()],
    ['is closed, and refuses', 'CANCELLED', (_, asked) => asked.close()],
    ['has gone away, and refuses', 'REFUSED', ({ last }) => last.peer.close({ drainMs: 10_000 })],
  ])('`reopenOnReconnect` errors when the other peer of its stream %s', async (_what, code, end) => {
    const { followed, asked, rows } = twoPeers();
    const told = toldOf(
      reopenOnReconnect(followed, { open: () => followed.open$<number>('ids').pipe(switchMap((id) => asked.request$(id))) }),
    );
    await time.advance(150);
    end(rows, asked);
    await time.advance(3_600_000);
    expect([told, followed.status]).toEqual([[code], { state: 'open', reconnects: 0 }]);
    void followed.close();
  });

  it('`reopenOnReconnect` reopens once it is connected, if the other peer was lost before', async () => {
    let connect: (url: string) => void = () => undefined;
    const { followed, asked, rows } = twoPeers(
      () =>
        new Promise((resolve) => {
          connect = resolve;
        }),
    );
    let opened = 0;
    const open = (): Observable<unknown> => {
      opened++;
      return asked.request$(opened);
    };
    const told = toldOf(reopenOnReconnect(followed, { open }));
    await time.advance(10);
    rows.last.link.cut();
    await time.advance(10);
    expect([opened, told]).toEqual([1, []]);
    connect(ADDRESS);
    await time.advance(10);
    expect([opened, told]).toEqual([2, ['REFUSED']]);
    void followed.close();
  });
});

describe('`reopenOnReconnect` over a drained socket without a successor', () => {
  async function drained(drain: (followed: Peer, server: Peer) => unknown) {
    const streams: Stream[] = [];
    const network = new Network({
      onStream: (_, stream) => {
        streams.push(stream);
        return new Promise(() => undefined);
      },
    });
    const followed = dialing(network, { reconnect: SOON });
    const told = toldOf(reopenOnReconnect(followed, { open: () => followed.open$('p') }));
    await time.advance(10);
    const { peer: server } = network.last;
    network.answer = 'silence';
    void drain(followed, server);
    await time.advance(10);
    expect([told, followed.status.state, streams.length]).toEqual([[], 'draining', 1]);
    return { told, streams, end: () => Promise.all([followed.close(), server.close()]) };
  }

  it.each<[what: string, code: ResetCode, told: string]>([
    ['the failure of its stream', 300, 'RESET'],
    ['the refusal of its stream', ResetCode.REFUSED, 'REFUSED'],
  ])('`reopenOnReconnect` reports %s, even when the server goes away', async (_what, code, expected) => {
    const { told, streams, end } = await drained((_followed, server) => server.close({ drainMs: 10_000 }));
    streams[0]?.reset(code);
    await time.advance(10);
    expect([told, streams.length]).toEqual([[expected], 1]);
    void end();
  });

  it('`reopenOnReconnect` reports a cancel by the server while this side drains', async () => {
    const { told, streams, end } = await drained((followed) => followed.close({ drainMs: 10_000 }));
    streams[0]?.reset();
    await time.advance(10);
    expect(told).toEqual(['RESET']);
    void end();
  });
});
