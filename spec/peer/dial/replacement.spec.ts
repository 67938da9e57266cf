import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, Subject, timer } from 'rxjs';
import { Peer } from '../../../src/index.js';
import type { CloseReason, ConnectOptions, Stream } from '../../../src/index.js';
import { PeerCore } from '../../../src/peer/core.js';
import { Backoff } from '../../../src/peer/dial/backoff.js';
import { Dialer } from '../../../src/peer/dial/dialer.js';
import type { DialContext } from '../../../src/peer/dial/dialer.js';
import { GivenSocket } from '../../../src/peer/dial/given-socket.js';
import { acceptorCore, DEFAULT_HELLO_LIMITS } from '../../../src/peer/hello.js';
import type { Hello } from '../../../src/peer/hello.js';
import { resolveOptions } from '../../../src/peer/options.js';
import { MemoryLink } from '../../../src/testing/memory-link.js';
import { MemorySocket } from '../../../src/testing/memory-socket.js';
import { W3cTransport } from '../../../src/transport/w3c.js';
import { ConnectError } from '../../../src/wire/errors.js';
import {
  ADDRESS,
  dialing,
  echo,
  echoing,
  holding,
  later,
  reconnecting,
  SOON,
  spell,
  watched,
  welcome,
} from '../../support/peer/dialing.js';
import type { Watched } from '../../support/peer/dialing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import { progressOf, settled } from '../../support/peer/outcome.js';
import { fillSocket, stays } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { FakeSocket } from '../../support/socket/fake.js';

describe('replacement', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  describe('Goaway with a replacement', () => {
    it('A goaway makes the peer dial the replacement before the old socket drains', async () => {
      const streams: Stream[] = [];
      const network = new Network({
        onStream: (_, stream) => {
          streams.push(stream);
          return new Promise(() => undefined);
        },
      });
      const { peer, reasons, states } = reconnecting(network);
      await time.advance();
      const old = peer.open('old');
      const values: unknown[] = [];
      old.subscribe((value) => values.push(value));
      await time.advance();
      const first = network.last;
      void first.peer.close({ drainMs: 60_000 });
      await time.advance();
      expect([states.at(-1), network.dials.length]).toEqual(['draining by remote', 1]);
      const fresh = peer.open('new');
      expect(fresh.id).toBeNull();
      await time.advance(1_000);
      expect([network.dials.length, states.at(-1), fresh.id, reasons]).toEqual([2, 'open 1', 1, []]);
      void streams[0]?.reply('drained');
      await time.advance();
      expect([values, old.cause]).toEqual([['drained'], null]);
      void old.end();
      await time.advance(10);
      // The last stream has ended, so the old socket closes. The replacement is open by then.
      expect([reasons, states.at(-1)]).toEqual([[{ code: 1000, reason: '', wasClean: true, willRetry: true }], 'open 1']);
      void peer.close();
    });

    it('A second goaway on a replaced socket lowers the cut, and causes no further dial', async () => {
      const network = holding();
      const { peer, states } = reconnecting(network);
      await time.advance();
      const [kept, cut] = [peer.open('kept'), peer.open('cut')];
      const { link } = network.last;
      await time.advance();
      link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0, last_stream: 3 }));
      await time.advance(1_000);
      const fresh = peer.open('new');
      await time.advance();
      link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0, last_stream: 1 }));
      await time.advance(60_000);
      expect([kept.phase, cut.cause, fresh.phase]).toMatchObject(['open', { how: 'reset', code: 7 }, 'open']);
      expect([network.dials.length, states.at(-1)]).toEqual([2, 'open 1']);
      void peer.close();
    });

    it('A dial of a replacement continues when the old socket is lost meanwhile', async () => {
      const network = holding();
      const { peer, reasons, states } = reconnecting(network);
      await time.advance(1_000);
      peer.open('old').subscribe({ error: () => undefined });
      await time.advance();
      const { link } = network.last;
      network.answer = 'silence';
      link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0, last_stream: 1 }));
      await time.advance(1_000);
      link.cut();
      await time.advance(5_000);
      expect([network.dials.length, network.givenUp, reasons, states]).toEqual([
        2,
        0,
        [{ code: 1006, reason: '', wasClean: false, willRetry: true }],
        ['connecting 1', 'open 0', 'draining by remote', 'connecting 1'],
      ]);
      void peer.close();
    });

    it('The loss of the old socket ends a closed peer whose replacement has already closed', async () => {
      const network = holding();
      const { peer, reasons, states } = reconnecting(network);
      await time.advance();
      const old = peer.open('old');
      await time.advance();
      const { link } = network.last;
      void network.last.peer.close({ drainMs: 60_000 });
      await time.advance(1_000);
      void peer.close({ drainMs: 30_000 });
      await time.advance(2_000);
      expect([states.at(-1), reasons.length]).toEqual(['draining by local', 1]);
      link.cut();
      const lost = { code: 1006, reason: '', wasClean: false, willRetry: false };
      expect([old.cause, reasons[1], states.at(-1)]).toEqual([{ how: 'lost', reason: lost }, lost, 'closed 1006']);
      await time.advance(60_000);
      expect(network.dials).toHaveLength(2);
    });

    it('A closed peer ends once when the loss of its replacement makes a subscriber cut the old socket', async () => {
      const network = holding();
      const { peer, states, reasons } = reconnecting(network);
      await time.advance();
      peer.open('old').subscribe({ error: () => undefined });
      await time.advance();
      const old = network.last;
      void old.peer.close({ drainMs: 60_000 });
      await time.advance(1_000);
      peer.open('new').subscribe({ error: () => old.link.cut({ code: 1011 }) });
      await time.advance();
      void peer.close({ drainMs: 30_000 });
      network.last.link.cut();
      expect([states.slice(4), reasons.map(({ code }) => code)]).toEqual([
        ['draining by local', 'closed 1011'],
        [1011, 1006],
      ]);
      expect(spell(peer.status)).toBe('closed 1011');
    });

    it('A ping waits for the next connection when the replacement is lost while the old socket drains', async () => {
      const network = holding();
      const { peer, states } = reconnecting(network);
      await time.advance();
      peer.open('old').subscribe({ error: () => undefined });
      await time.advance();
      void network.last.peer.close({ drainMs: 60_000 });
      await time.advance(1_000);
      expect(states.at(-1)).toBe('open 1');
      network.last.link.cut();
      expect(peer.status).toEqual({ state: 'draining', by: 'remote' });
      const pong = settled(peer.ping());
      await time.advance(1_000);
      expect([await pong, network.dials.length, peer.status.state]).toEqual([{ value: expect.any(Number) }, 3, 'open']);
      void peer.close();
      await time.advance(70_000);
    });

    /** A peer whose server answers the hello on every socket but the first 8 s late. */
    function greetedLate(): Watched {
      let greeted = 0;
      const onHello = (payload: unknown, stream: Stream): unknown => (++greeted === 1 ? welcome : later(8_000, welcome))(payload, stream);
      return reconnecting(new Network({ onHello, onStream: stays }), { hello: () => ({ payload: 'hi' }) });
    }

    it('The status returns to connecting when the old socket ends before the hello on the replacement is answered', async () => {
      const { peer, states, network } = greetedLate();
      await time.advance(1_000);
      peer.open('old').subscribe({ error: () => undefined });
      await time.advance();
      void network.last.peer.close({ drainMs: 1_500 });
      await time.advance(1_400);
      expect([states, network.dials.length]).toEqual([['connecting 1', 'open 0', 'draining by remote'], 2]);
      await time.advance(200);
      expect(states.slice(3)).toEqual(['connecting 1']);
      await time.advance(8_000);
      expect(states.slice(4)).toEqual(['open 1']);
      void peer.close();
    });

    it('The status stays draining when the replacement is lost before its hello was answered', async () => {
      const { peer, states, network } = greetedLate();
      await time.advance();
      peer.open('old').subscribe({ error: () => undefined });
      await time.advance();
      void network.last.peer.close({ drainMs: 60_000 });
      await time.advance(1_400);
      expect(network.dials).toHaveLength(2);
      network.last.link.cut();
      expect(states).toEqual(['connecting 1', 'open 0', 'draining by remote']);
      void peer.close();
      await time.advance(70_000);
    });

    it('A draining socket does not count as stable, so that failures of its replacements add up', async () => {
      const network = holding();
      const attempts: number[] = [];
      const url = ({ attempt }: DialContext): string => {
        attempts.push(attempt);
        return ADDRESS;
      };
      const peer = dialing(network, { reconnect: { ...SOON, stableMs: 5_000 }, connectTimeoutMs: 3_000 }, url);
      await time.advance(1_000);
      peer.open('old').subscribe({ error: () => undefined });
      await time.advance();
      network.answer = 'silence';
      void network.last.peer.close({ drainMs: 60_000 });
      await time.advance(8_000);
      expect(attempts).toEqual([1, 1, 2, 3]);
      void peer.close();
      await time.advance(70_000);
    });

    it('`close` fails the calls that wait for a replacement at once, before the drain ends', async () => {
      const network = holding();
      const { peer } = reconnecting(network);
      await time.advance();
      peer.open('old').subscribe({ error: () => undefined });
      await time.advance();
      void network.last.peer.close({ drainMs: 60_000 });
      await time.advance();
      const waiting = settled(peer.request('new'));
      void peer.close({ drainMs: 3_000 });
      const before = time.now;
      expect(await waiting).toMatchObject({ error: { code: 'CONNECTION_LOST', retriable: true } });
      expect(time.now).toBe(before);
      await time.advance(70_000);
    });

    it('A goaway moves unsent opens to the replacement, and fails opens above its cut with a retriable RefusedError', async () => {
      const network = holding();
      const { peer } = reconnecting(network);
      await time.advance();
      const { link } = network.last;
      link.stall('acceptor');
      const sent = peer.open('sent');
      const errors: unknown[] = [];
      sent.subscribe({ error: (error: unknown) => errors.push(error) });
      fillSocket(peer);
      await time.advance();
      const waiting = peer.open('waiting');
      link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0, last_stream: 0 }));
      await time.advance();
      expect(errors).toEqual([expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: true })]);
      expect([waiting.phase, waiting.id]).toEqual(['idle', null]);
      await time.advance(1_000);
      expect([waiting.phase, waiting.id, network.dials.length]).toEqual(['open', 1, 2]);
      void peer.close();
    });

    it('A goaway without the reconnect helper makes the peer refuse new streams', async () => {
      const network = holding();
      const { peer } = reconnecting(network, { reconnect: false });
      await time.advance();
      const old = peer.open('old');
      await time.advance();
      void network.last.peer.close({ drainMs: 1_000 });
      await time.advance();
      expect(await settled(peer.request('new'))).toEqual({
        error: expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: false, streamId: null }),
      });
      expect([old.phase, peer.status.state]).toEqual(['open', 'draining']);
      await time.advance(3_000);
      expect(peer.status.state).toBe('closed');
    });

    it('A goaway without the reconnect helper refuses unsent opens at once', async () => {
      const network = holding();
      const { peer } = reconnecting(network, { reconnect: false });
      await time.advance();
      const { link } = network.last;
      link.stall('acceptor');
      const sent = peer.open('sent');
      sent.subscribe({ error: () => undefined });
      fillSocket(peer);
      await time.advance();
      const waiting = peer.open('waiting');
      link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0, last_stream: 1 }));
      await time.advance();
      expect([waiting.phase, await settled(firstValueFrom(waiting))]).toEqual([
        'closed',
        { error: expect.objectContaining({ code: 'REFUSED', retriable: true }) },
      ]);
      void peer.close();
    });

    it('A goaway during the hello makes the peer dial a replacement after the hello', async () => {
      const network = new Network({ onHello: (_, stream) => lastValueFrom(timer(100)).then(() => stream.reply('welcome')) });
      const { peer, states } = reconnecting(network, { hello: () => ({ payload: 'hi' }) });
      await time.advance(50);
      network.last.link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0 }));
      const waiting = peer.open('waiting');
      await time.advance(49);
      expect([network.dials.length, states.at(-1)]).toEqual([1, 'connecting 1']);
      await time.advance(1_200);
      expect([network.dials.length, waiting.id, peer.status]).toEqual([2, 3, { state: 'open', reconnects: 1 }]);
      void peer.close();
    });

    /** A peer whose server answers the hello after 100 ms, and sends a goaway after 50 ms. */
    async function goneDuringTheHello(code: number, options: ConnectOptions) {
      const network = new Network({ onHello: later(100, welcome), onStream: echo });
      const watching = watched(network, { hello: () => ({ payload: 'hi' }), ...options });
      const opened = progressOf(watching.peer.opened);
      const waiting = progressOf(watching.peer.request('waiting'));
      await time.advance(50);
      network.last.link.inject('dialer', JSON.stringify({ type: 'goaway', code }));
      await time.advance(100);
      return { ...watching, opened, waiting };
    }

    it('A goaway during the hello leaves the peer draining until its replacement opens', async () => {
      const { peer, states, opened, waiting } = await goneDuringTheHello(0, { reconnect: SOON });
      expect([states, opened.settled]).toEqual([['connecting 1', 'draining by remote'], false]);
      await time.advance(1_200);
      expect([states, opened, waiting]).toEqual([
        ['connecting 1', 'draining by remote', 'open 1'],
        { settled: true, error: null },
        { settled: true, error: null },
      ]);
      void peer.close();
    });

    it('A goaway during the hello refuses the calls of a peer without the reconnect helper, which never opens', async () => {
      const { peer, network, states, opened, waiting } = await goneDuringTheHello(0, {});
      expect([states, waiting]).toEqual([
        ['connecting 1', 'draining by remote'],
        { settled: true, error: expect.objectContaining({ code: 'REFUSED', resetCode: null, retriable: true, streamId: null }) },
      ]);
      expect(await settled(peer.request('new'))).toMatchObject({ error: { code: 'REFUSED', retriable: false } });
      void network.last.peer.close();
      await time.advance();
      expect([states.slice(2), opened]).toEqual([
        ['closed 1000'],
        { settled: true, error: expect.objectContaining({ code: 'CONNECTION_LOST' }) },
      ]);
    });

    it.each([
      [11, 'leads to the longest delay', ['waiting 2'], 2],
      [1, 'ends the peer', ['closed 1000'], 1],
    ])('A goaway of code %p during the hello %s, and `shouldRetry` learns so', async (code, _what, states, dials) => {
      const asked: boolean[] = [];
      const shouldRetry = ({ willRetry }: { readonly willRetry: boolean }): boolean => {
        asked.push(willRetry);
        return willRetry;
      };
      const watching = await goneDuringTheHello(code, { reconnect: { shouldRetry } });
      expect([watching.states, asked]).toEqual([['connecting 1', 'draining by remote'], []]);
      await time.advance(29_000);
      expect([watching.states.slice(2), asked, watching.network.dials.length]).toEqual([states, [dials === 2], 1]);
      await time.advance(3_000);
      expect(watching.network.dials.length).toBe(dials);
      void watching.peer.close();
    });

    it('A connection that breaks before the hello was made reports the close and no goaway', async () => {
      const network = new Network({ onHello: (_, stream) => stream.reply('welcome') });
      const { peer, reasons } = watched(network, { hello: () => lastValueFrom(timer(100)).then(() => ({ payload: 'hi' })) });
      await time.advance(50);
      // A stalled socket closes only after the hello.
      network.last.link.stall('acceptor');
      network.last.link.inject('dialer', '{');
      await time.advance(100);
      network.last.link.resume('acceptor');
      await time.advance(5_000);
      expect(reasons).toEqual([expect.objectContaining({ code: 1002, willRetry: false })]);
      expect(peer.status).toMatchObject({ state: 'closed', error: { code: 'CONNECT', message: expect.stringContaining('1002') } });
    });

    it('A goaway before the hello was made prevents the hello on that socket, and the next socket sends one', async () => {
      const network = new Network({ onHello: (_, stream) => stream.reply('welcome') });
      const { peer, sent } = reconnecting(network, { hello: () => lastValueFrom(timer(100)).then(() => ({ payload: 'hi' })) });
      await time.advance(50);
      network.last.link.inject('dialer', JSON.stringify({ type: 'goaway', code: 0 }));
      await time.advance(50);
      expect([network.dials.length, sent.filter(({ type }) => type === 'open')]).toEqual([1, []]);
      await time.advance(10_000);
      expect([network.dials.length, peer.status]).toEqual([2, { state: 'open', reconnects: 0 }]);
      expect(logs.warnings).toEqual([
        'rxmux: a dial failed, and more follow: the hello has failed: refused: the remote is going away',
        'rxmux: connected to wss://example.org/mux after 1 failed dial',
      ]);
      void peer.close();
    });

    it('A peer whose replacement is refused for good drains its old streams, then ends', async () => {
      const network = holding();
      const { peer, reasons } = reconnecting(network);
      await time.advance();
      const old = peer.open('old');
      await time.advance();
      const first = network.last;
      network.answer = { status: 401 };
      void first.peer.close({ drainMs: 5_000 });
      await time.advance();
      const waiting = settled(peer.request('waiting'));
      const opened = peer.open('waiting too');
      await time.advance(1_000);
      expect(reasons).toEqual([expect.objectContaining({ code: 1006, willRetry: false })]);
      expect(opened.cause).toEqual({ how: 'lost', reason: reasons[0] });
      expect(await waiting).toEqual({ error: expect.objectContaining({ code: 'CONNECT', status: 401, retriable: true }) });
      expect([old.phase, peer.status.state]).toEqual(['open', 'draining']);
      expect(await settled(peer.request('later'))).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: false }) });
      await time.advance(10_000);
      expect(reasons.at(-1)).toMatchObject({ code: 1000, willRetry: false });
      expect(await peer.closed).toEqual(reasons.at(-1));
      expect(peer.status).toMatchObject({ state: 'closed', reason: { code: 1000 }, error: { code: 'CONNECT', status: 401 } });
      expect(time.isOver()).toBe(true);
    });

    it('A peer whose socket ends before the replacement is dialed reports that it waits', async () => {
      const network = echoing();
      const { peer, states, reasons } = reconnecting(network);
      await time.advance(1_000);
      void network.last.peer.close();
      await time.advance();
      expect(reasons).toEqual([{ code: 1000, reason: '', wasClean: true, willRetry: true }]);
      expect(states.at(-1)).toBe('waiting 1');
      await time.advance(1_000);
      expect(peer.status).toEqual({ state: 'open', reconnects: 1 });
      void peer.close();
    });
  });

  describe('Peer without free stream ids', () => {
    const LAST = 2 ** 53 - 1;

    function nearlyUsedUp(network: Network, backoff: Backoff | null, hello?: () => Hello) {
      const options = { ...resolveOptions({ keepalive: false }, true), firstId: hello === undefined ? LAST : LAST - 2 };
      const core = new PeerCore(options);
      const dialer = new Dialer(core, {
        url: 'ws://test',
        open: (url, protocol) => new W3cTransport(network.socket(url, protocol)),
        backoff,
        hello,
        helloTimeoutMs: 0,
        connectTimeoutMs: 0,
        lazy: false,
        idleCloseMs: 0,
        connectivity: { offline: false, events$: new Subject() },
      });
      const peer = new Peer(core, dialer);
      dialer.start();
      return peer;
    }

    it('`open` without the reconnect helper throws StreamIdsExhaustedError and sends nothing when no id is free', async () => {
      const peer = nearlyUsedUp(holding(), null);
      await time.advance();
      expect(peer.open('last').id).toBe(LAST);
      const sent = framesOf(peer);
      expect(() => peer.open('one more')).toThrow(expect.objectContaining({ code: 'IDS_EXHAUSTED', retriable: false }));
      expect(sent).toEqual([]);
    });

    it('A notification that waited for another leaves over a new socket when no id is free', async () => {
      const seen: unknown[] = [];
      const network = new Network({ onStream: (payload) => void seen.push(String(payload).length) });
      const peer = nearlyUsedUp(network, new Backoff({}));
      await time.advance();
      peer.notify('x'.repeat(300_000));
      peer.notify('one more');
      await time.advance(2_000);
      expect([seen, network.dials.length]).toEqual([[300_000, 8], 2]);
    });

    it('`open` moves to a new socket when no id is free, while the old socket drains', async () => {
      const network = holding();
      const peer = nearlyUsedUp(network, new Backoff({}));
      await time.advance();
      const last = peer.open('last');
      const sent = framesOf(peer);
      const next = peer.open('one more');
      expect([next.id, sent]).toEqual([null, [{ type: 'goaway', code: 0, last_stream: 0 }]]);
      await time.advance(1_000);
      expect([network.dials.length, next.id, last.phase]).toEqual([2, LAST, 'open']);
      last.reset();
      await time.advance(5_000);
      expect(network.dials[0]?.peer.status.state).toBe('closed');
      void peer.close();
    });

    it('A peer without free ids does not dial when an observer of the goaway closes it', async () => {
      const network = holding();
      const peer = nearlyUsedUp(network, new Backoff({}));
      await time.advance();
      peer.open('last');
      peer.onFrame((direction, { type }) => {
        if (direction === 'tx' && type === 'goaway') void peer.close();
      });
      const outcome = settled(peer.request('one more'));
      await time.advance(60_000);
      expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: false }) });
      expect([network.dials.length, peer.status.state, time.isOver()]).toEqual([1, 'closed', true]);
    });

    it('A peer without free ids connects when its old socket is lost before the hello on the new one is answered', async () => {
      const network = new Network({ onHello: later(100, welcome), onStream: () => new Promise(() => undefined) });
      const peer = nearlyUsedUp(network, new Backoff({ maxDelayMs: 0, minDelayMs: 0 }), () => ({ payload: 'hi' }));
      const states: string[] = [];
      peer.status$.subscribe((status) => states.push(spell(status)));
      await time.advance(100);
      peer.open('last').subscribe({ error: () => undefined });
      const old = network.last;
      peer.open('one more').subscribe({ error: () => undefined });
      await time.advance(50);
      expect([states, network.dials.length]).toEqual([['connecting 1', 'open 0'], 2]);
      old.link.cut();
      await time.advance(50);
      expect(states.slice(2)).toEqual(['connecting 1', 'open 1']);
      void peer.close();
    });
  });
});

describe('given socket', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  const CLEAN: CloseReason = { code: 1000, reason: '', wasClean: true, willRetry: false };

  describe('`new Peer(socket)`', () => {
    function given() {
      const line = new MemoryLink({ protocol: 'mux.v1.json' });
      const remote = new Peer(new MemorySocket(line.ends.acceptor, null), { isDialer: false, keepalive: false });
      remote.onStream((payload, stream) => stream.reply(payload));
      void remote.serve();
      const socket = new MemorySocket(line.ends.dialer, null);
      const peer = new Peer(socket, { isDialer: true, keepalive: false });
      return { line, socket, peer, remote };
    }

    it.each([
      [undefined, 'undefined'],
      [null, 'null'],
      ['dialer', "'dialer'"],
    ])('Peer throws a TypeError for `isDialer` %p', (isDialer, got) => {
      const socket = new MemorySocket(new MemoryLink({ protocol: 'mux.v1.json' }).ends.dialer, null);
      const options = { isDialer } as unknown as { readonly isDialer: boolean };
      expect(() => new Peer(socket, options)).toThrow(new TypeError(`isDialer: expected a boolean, got ${got}`));
    });

    it('Peer reads nothing before `serve`, and keeps early messages until then', async () => {
      const { peer, remote } = given();
      await time.advance();
      remote.notify('early');
      await time.advance();
      const got: unknown[] = [];
      expect(peer.status.state).toBe('connecting');
      const closed = peer.serve((payload) => {
        got.push(payload);
      });
      await time.advance();
      expect([got, peer.status.state]).toEqual([['early'], 'open']);
      void peer.close();
      await time.advance();
      expect(await closed).toEqual(CLEAN);
    });

    it('Peer over a closing socket is never open, and ends with the socket', async () => {
      const socket = new FakeSocket('CLOSING');
      const peer = new Peer(socket, { isDialer: true, keepalive: false });
      void peer.serve();
      const opened = settled(peer.opened);
      await time.advance();
      expect(peer.status.state).toBe('connecting');
      socket.emit('close', { code: 1001, reason: 'gone', wasClean: true }, 'CLOSED');
      await time.advance();
      expect(peer.status.state).toBe('closed');
      expect(await opened).toEqual({ error: expect.objectContaining({ code: 'CONNECT' }) });
    });

    it('Peer keeps its calls until `serve`', async () => {
      const { peer } = given();
      const answer = peer.request('p');
      await time.advance();
      void peer.serve();
      void peer.serve();
      await time.advance();
      expect(await answer).toBe('p');
    });

    it('Peer accepts its handler as an option', async () => {
      const line = new MemoryLink({ protocol: 'mux.v1.json' });
      const [peer, remote] = ([true, false] as const).map(
        (isDialer) =>
          new Peer(new MemorySocket(isDialer ? line.ends.dialer : line.ends.acceptor, null), {
            isDialer,
            keepalive: false,
            onStream: (_, stream) => stream.reply(isDialer),
          }),
      );
      void peer?.serve();
      void remote?.serve();
      const answers = Promise.all([peer?.request(), remote?.request()]);
      await time.advance();
      expect(await answers).toEqual([false, true]);
      expect([peer?.isDialer, remote?.isDialer]).toEqual([true, false]);
    });

    it('Peer that is closed before `serve` ends its open socket cleanly, after earlier calls', async () => {
      const { peer, remote } = given();
      const got: unknown[] = [];
      await time.advance();
      remote.streams$.subscribe((stream) => got.push(stream.payload));
      peer.notify('bye');
      const closed = peer.close();
      await time.advance();
      expect([await closed, got, await remote.closed]).toEqual([CLEAN, ['bye'], CLEAN]);
      expect(time.isOver()).toBe(true);
    });

    it('Peer that is closed before its socket opens ends the socket, and fails waiting calls with a retriable error', async () => {
      const { peer, socket } = given();
      const outcome = settled(peer.request('p'));
      const closed = await peer.close();
      expect(closed).toEqual({ code: 1000, reason: 'closed before it was open', wasClean: false, willRetry: false });
      expect(await outcome).toEqual({ error: expect.objectContaining({ code: 'CONNECTION_LOST', retriable: true }) });
      expect(socket.readyState).toBe(3);
      await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
      void peer.serve();
      await time.advance(10_000);
      expect(peer.status.state).toBe('closed');
      expect(time.isOver()).toBe(true);
    });

    it('Peer over a socket that ends before it opens is closed with a ConnectError', async () => {
      const { peer, socket } = given();
      const reasons: unknown[] = [];
      peer.onClose((reason) => reasons.push(reason));
      void peer.serve();
      socket.terminate();
      await time.advance();
      await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT' });
      expect(reasons).toEqual([expect.objectContaining({ code: 1006, willRetry: false })]);
    });

    /** A peer over a socket of another subprotocol, one second after the peer has closed its side. */
    async function turnedAway() {
      const line = new MemoryLink({ protocol: 'mux.v1.msgpack' });
      const socket = new MemorySocket(line.ends.dialer, null);
      const peer = new Peer(socket, { isDialer: true });
      void peer.serve();
      await time.advance(1_000);
      return { line, socket, peer };
    }

    it('Peer ends a socket of another subprotocol that the remote does not close after 2 s without progress', async () => {
      const { line, socket, peer } = await turnedAway();
      line.ends.acceptor.send('still here');
      await time.advance(1_999);
      expect([peer.status.state, socket.readyState]).toEqual(['connecting', 2]);
      await time.advance(1);
      await expect(peer.opened).rejects.toMatchObject({ code: 'CODEC_MISMATCH', selected: 'mux.v1.msgpack' });
      expect(await peer.closed).toEqual({ code: 1006, reason: 'closing made no progress', wasClean: false, willRetry: false });
      expect([socket.readyState, time.isOver()]).toEqual([3, true]);
    });

    it('Peer that is closed ends a closing socket of another subprotocol at once', async () => {
      const { socket, peer } = await turnedAway();
      void peer.close();
      expect([peer.status, socket.readyState]).toEqual([expect.objectContaining({ state: 'closed', error: null }), 3]);
      await time.advance();
      expect(time.isOver()).toBe(true);
    });

    it('Peer refuses calls once its socket has ended, because no other socket follows', async () => {
      const { peer, line } = given();
      void peer.serve();
      await time.advance();
      line.cut();
      await time.advance();
      expect(await settled(peer.request())).toEqual({
        error: expect.objectContaining({ code: 'REFUSED', retriable: false, message: 'refused: its socket is gone (1006)' }),
      });
      peer.reconnectNow();
      expect(peer.status.state).toBe('closed');
    });
  });

  describe('Peer over a given socket without free stream ids', () => {
    /** A peer that may open one more stream. */
    async function withLastId(): Promise<Peer> {
      const { ends } = new MemoryLink({ protocol: 'mux.v1.json' });
      const options = { ...resolveOptions({ keepalive: false }, true), firstId: Number.MAX_SAFE_INTEGER };
      const core = new PeerCore(options);
      const peer = new Peer(core, new GivenSocket(core, ends.dialer));
      const remote = new Peer(new MemorySocket(ends.acceptor, null), { isDialer: false, keepalive: false });
      remote.onStream(stays);
      for (const side of [remote, peer]) void side.serve();
      await time.advance();
      return peer;
    }

    it('`open` throws StreamIdsExhaustedError and sends nothing when a given socket has no free id', async () => {
      const peer = await withLastId();
      expect(peer.open('last').id).toBe(Number.MAX_SAFE_INTEGER);
      const sent = framesOf(peer);
      expect(() => peer.open('one more')).toThrow(expect.objectContaining({ code: 'IDS_EXHAUSTED', retriable: false }));
      expect([sent, await settled(peer.request('another'))]).toMatchObject([[], { error: { code: 'IDS_EXHAUSTED' } }]);
    });

    it('A notification that waited for another is dropped with a warning when a given socket has no free id', async () => {
      const peer = await withLastId();
      peer.notify('x'.repeat(300_000));
      peer.notify('one more');
      await time.advance(100);
      expect(logs.warnings).toEqual(['rxmux: 1 notify() never left: this connection has used all stream ids']);
      expect(peer.bufferedAmount).toBe(0);
    });
  });

  describe('Peer that awaits its socket', () => {
    function promised() {
      const core = new PeerCore(resolveOptions({ keepalive: false }, false));
      const source = new GivenSocket(core);
      const peer = new Peer(core, source);
      void peer.serve();
      return { source, peer, line: new MemoryLink({ protocol: 'mux.v1.json' }) };
    }

    it('Peer does not open a socket that arrives before `serve`', async () => {
      const core = new PeerCore(resolveOptions({ keepalive: false }, false));
      const source = new GivenSocket(core);
      const peer = new Peer(core, source);
      source.give(new MemoryLink({ protocol: 'mux.v1.json' }).ends.acceptor);
      await time.advance(1_000);
      const before = peer.status.state;
      void peer.serve();
      await time.advance();
      expect([before, peer.status.state]).toEqual(['connecting', 'open']);
    });

    it('Peer accepts an awaited socket without a subprotocol', async () => {
      const { source, peer } = promised();
      source.give(new MemoryLink({ protocol: '' }).ends.acceptor);
      await time.advance();
      expect(peer.status.state).toBe('open');
    });

    it('A closed peer reports nothing when its awaited socket fails', async () => {
      const { source, peer } = promised();
      const reasons: unknown[] = [];
      peer.onClose((reason) => reasons.push(reason));
      await peer.close();
      source.fail(new ConnectError('HTTP 401', { status: 401 }));
      await time.advance();
      expect([reasons, peer.status]).toEqual([[], expect.objectContaining({ error: null })]);
    });

    it('A closed peer ends an awaited socket that arrives', async () => {
      const { source, peer, line } = promised();
      void peer.close();
      source.give(line.ends.acceptor);
      expect([line.ends.acceptor.closed, peer.status.state]).toEqual([expect.objectContaining({ code: 1006 }), 'closed']);
      await time.advance();
    });

    it('Peer is closed with the ConnectError of its awaited socket', async () => {
      const { source, peer } = promised();
      const reasons: unknown[] = [];
      peer.onClose((reason) => reasons.push(reason));
      source.fail(new ConnectError('HTTP 401', { status: 401 }));
      await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', status: 401 });
      expect(reasons).toEqual([{ code: 1006, reason: 'HTTP 401', wasClean: false, willRetry: false }]);
    });
  });

  describe('Peer that awaits a socket and a hello', () => {
    it('The time-out of a hello starts when the awaited socket arrives', async () => {
      const line = new MemoryLink({ protocol: 'mux.v1.json' });
      const hello = { handler: () => undefined, timeoutMs: 300, limits: DEFAULT_HELLO_LIMITS };
      const core = acceptorCore({ ...resolveOptions({ keepalive: false }, false), hello });
      const source = new GivenSocket(core);
      const peer = new Peer(core, source);
      const sent = framesOf(peer);
      void peer.serve();
      await time.advance(400);
      source.give(line.ends.acceptor);
      await time.advance(299);
      expect([peer.status.state, sent]).toEqual(['open', []]);
      await time.advance(1);
      expect(sent).toEqual([{ type: 'goaway', code: 7, last_stream: 0, reason: 'the hello was refused' }]);
    });
  });
});
