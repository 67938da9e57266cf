import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Subject, of } from 'rxjs';
import * as first from '../../src/index.js';
import { instrument as firstInstrument } from '../../src/otel.js';
import { createPair } from '../../src/testing.js';
import { CursorLost, lossIn as firstLossIn } from '../../src/topics/cursor.js';
import { reconnecting } from '../support/peer/dialing.js';
import { Network } from '../support/peer/network.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { collectLogs } from '../support/peer/logs.js';

const time = virtualPeerTime();

describe('Second copy of the package', () => {
  collectLogs();

  let copy: typeof first;

  beforeAll(async () => {
    await jest.isolateModulesAsync(async () => {
      copy = await import('../../src/index.js');
    });
  });

  it('A second copy of the package recognises the errors of the first', async () => {
    const { dialer } = createPair();
    const outcome = dialer.request('p').catch((cause: unknown) => cause);
    await time.advance();
    const error = await outcome;
    expect([error instanceof copy.MuxError, copy.isMuxError(error)]).toEqual([false, true]);
  });

  it('A second copy of the package finds a lost cursor in an error of the first', async () => {
    let lossIn = firstLossIn;
    await jest.isolateModulesAsync(async () => {
      ({ lossIn } = await import('../../src/topics/cursor.js'));
    });
    const error = new first.RemoteError('gone', new CursorLost('k3f:2').payload);
    expect([lossIn(error), firstLossIn(error)]).toMatchObject(Array(2).fill({ resetTo: 'k3f:2', reason: 'gone', cause: error }));
  });

  it('A second copy of the package says why it cannot answer the streams of the first', async () => {
    const { dialer, acceptor } = createPair();
    const errors: unknown[] = [];
    acceptor.streams$.pipe(copy.respond(() => of(1))).subscribe({ error: (error: unknown) => errors.push(error) });
    void dialer.request('p').catch(() => undefined);
    await time.advance();
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('expected a stream of this copy of rxmux') })]);
  });

  it('A second copy of the package refuses to instrument a peer of the first, and logs each foreign peer of a server', async () => {
    let instrument = firstInstrument;
    await jest.isolateModulesAsync(async () => {
      ({ instrument } = await import('../../src/otel.js'));
    });
    const { dialer } = createPair();
    expect(() => instrument(dialer)).toThrow('instrument: expected a Peer of this copy of rxmux, got one of another copy');
    // The second copy has a logger of its own.
    const said = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const peers$ = new Subject<first.Peer>();
    const remove = instrument({ peers$ });
    peers$.next(dialer);
    await time.advance();
    expect(said.mock.calls.flat().join()).toContain('one of another copy, which is not instrumented');
    remove();
  });

  it('A second copy of the package reopens streams on a peer of the first', async () => {
    const opened: unknown[] = [];
    const network = new Network({
      onStream: (payload) => {
        opened.push(payload);
        return new Promise(() => undefined);
      },
    });
    const { peer } = reconnecting(network);
    const again$ = copy.reopenOnReconnect(peer, { open: () => peer.open$('p') });
    expect(copy.reopenOnReconnect).not.toBe(first.reopenOnReconnect);
    again$.subscribe();
    await time.advance(10);
    network.last.link.cut();
    await time.advance(1_000);
    expect(opened).toEqual(['p', 'p']);
  });
});
