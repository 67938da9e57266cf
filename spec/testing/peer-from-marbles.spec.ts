import { describe, expect, it } from '@jest/globals';
import { catchError, EMPTY, map, mergeMap, NEVER } from 'rxjs';
import { CloseCode, ResetCode } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { frameMarbles, peerFromMarbles } from '../../src/testing.js';
import { marbles } from '../../marbles/support/virtual.js';
import { letterOf } from '../../marbles/support/wire.js';

const letters = map(letterOf);

describe('peerFromMarbles', () => {
  it(
    '`peerFromMarbles` reads its row, and emits the frames that the peer sends',
    marbles((helpers) => {
      const inbound = ' --o---O--|';
      const subs = '    ^--------!';
      const outbound = '--e---e--|';
      const frames = { o: frameMarbles(1).o, O: frameMarbles(3).o };
      const { outbound$, ...row } = peerFromMarbles(helpers, inbound, frames, { onStream: (_, stream) => stream.reply('hi') });
      helpers.expectObservable(outbound$.pipe(letters)).toBe(outbound);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` has the letters of stream 1 by default',
    marbles((helpers) => {
      const inbound = ' --o-d-e-|';
      const subs = '    ^-------!';
      const read = '    ----d---|';
      const { peer, ...row } = peerFromMarbles(helpers, inbound);
      helpers.expectObservable(peer.streams$.pipe(mergeMap((stream) => stream))).toBe(read);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` closes the socket cleanly at |',
    marbles((helpers) => {
      const inbound = ' -----|';
      const subs = '    ^----!';
      const closes = '  -----(c|)';
      const { peer, ...row } = peerFromMarbles(helpers, inbound);
      helpers.expectObservable(peer.closes$).toBe(closes, { c: { code: CloseCode.CLEAN, reason: '', wasClean: true, willRetry: false } });
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` loses the socket at #',
    marbles((helpers) => {
      const inbound = ' -----#';
      const subs = '    ^----!';
      const closes = '  -----(c|)';
      const { peer, ...row } = peerFromMarbles(helpers, inbound);
      helpers
        .expectObservable(peer.closes$)
        .toBe(closes, { c: { code: CloseCode.ABNORMAL, reason: '', wasClean: false, willRetry: false } });
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` unsubscribes from its row when the peer closes',
    marbles((helpers) => {
      const inbound = ' -----------p';
      const subs = '    ^---!       ';
      const outbound = '----(g|)    ';
      const closes = '  ----(c|)    ';
      const { peer, outbound$, ...row } = peerFromMarbles(helpers, inbound);
      helpers.cold('----x').subscribe(() => void peer.close());
      helpers.expectObservable(outbound$.pipe(letters)).toBe(outbound);
      helpers.expectObservable(peer.closes$).toBe(closes, { c: expect.objectContaining({ code: CloseCode.CLEAN, wasClean: true }) });
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` unsubscribes from its row when the peer ends the connection over a frame',
    marbles((helpers) => {
      const inbound = ' ---x-----';
      const subs = '    ^--!     ';
      const outbound = '---(g|)  ';
      const frames = { x: { type: 'open', stream: 2 } };
      const { outbound$, ...row } = peerFromMarbles(helpers, inbound, frames);
      helpers.expectObservable(outbound$.pipe(map(({ type, code }) => [type, code]))).toBe(outbound, {
        g: ['goaway', ResetCode.PROTOCOL_ERROR],
      });
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` makes a dialer, and speaks another codec, by its options',
    marbles((helpers) => {
      const inbound = ' ---d--e|';
      const subs = '    ^------!';
      const outbound = '-o-----|';
      const received = '---d--|';
      const codec = new MsgpackCodec();
      const { peer, outbound$, ...row } = peerFromMarbles(helpers, inbound, frameMarbles(1), { isDialer: true, codec });
      helpers.expectObservable(outbound$.pipe(letters)).toBe(outbound);
      helpers.expectObservable(peer.open$('x'), '-^').toBe(received);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` treats an undefined keepalive as a missing one',
    marbles((helpers) => {
      const inbound = ' 50s |';
      const subs = '    ^ 49999ms !';
      const outbound = '50s |';
      const { outbound$, ...row } = peerFromMarbles(helpers, inbound, frameMarbles(), { keepalive: undefined });
      helpers.expectObservable(outbound$.pipe(letters)).toBe(outbound);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it.each<[what: string, order: readonly number[]]>([
    ['before the call', [0, 1, 2]],
    ['after the call', [2, 1, 0]],
    ['before and after the call', [0, 2, 1]],
  ])(
    '`peerFromMarbles` emits a sent frame to all who subscribe in the same ms: %s',
    marbles<[string, readonly number[]]>((helpers, _what, order) => {
      const inbound = ' --------|';
      const subs = '    ^-------!';
      const sent = '    o--o----|';
      const later = '   ---^     ';
      const sentLater = '---o----|';
      const { peer, outbound$, ...row } = peerFromMarbles(helpers, inbound, frameMarbles(), { isDialer: true });
      const expectations = [
        () => helpers.expectObservable(outbound$.pipe(letters)).toBe(sent),
        () => helpers.expectObservable(outbound$.pipe(letters), later).toBe(sentLater),
        () => {
          helpers.expectObservable(peer.open$('x', { input: NEVER }).pipe(catchError(() => EMPTY))).toBe('--------|');
          helpers.expectObservable(peer.open$('y', { input: NEVER }).pipe(catchError(() => EMPTY)), later).toBe('--------|');
        },
      ];
      for (const nth of order) expectations[nth]?.();
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` emits no past frame to a subscriber a ms later',
    marbles((helpers) => {
      const inbound = ' --o-----|';
      const subs = '    ^-------!';
      const sent = '    --e-----|';
      const later = '   ---^     ';
      const sentLater = '--------|';
      const { outbound$, ...row } = peerFromMarbles(helpers, inbound, frameMarbles(1), { onStream: (_, stream) => stream.reply('hi') });
      helpers.expectObservable(outbound$.pipe(letters)).toBe(sent);
      helpers.expectObservable(outbound$.pipe(letters), later).toBe(sentLater);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    'The peer and the socket of peerFromMarbles are open together',
    marbles((helpers) => {
      const { socket, peer, inbound } = peerFromMarbles(helpers, '---|');
      helpers.expectObservable(peer.status$.pipe(map(({ state }) => [state, socket.readyState]))).toBe('o--(x|)', {
        o: ['open', 1],
        x: ['closed', 3],
      });
      helpers.expectSubscriptions(inbound.subscriptions).toBe('^--!');
    }),
  );
});
