import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, NEVER, of, Subject } from 'rxjs';
import { inspect, Omitted } from '../../src/inspect.js';
import type { InspectorLine } from '../../src/inspect.js';
import { createPair, createServer, virtualTime } from '../../src/testing.js';
import { connect } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';

collectLogs();

/** An acceptor that takes notifications. */
const TAKES = { acceptor: { onStream: () => undefined } };
const SUM = { op: 'sum', of: [1, 2] };

function opens(lines: readonly InspectorLine[]): readonly InspectorLine[] {
  return lines.filter(({ f }) => f?.['type'] === 'open');
}

function timeless(lines: readonly InspectorLine[]): unknown[] {
  return lines.map((line) => ({ ...line, t: 0 }));
}

describe('the lines of an inspected peer', () => {
  it('Lines have the name, the size and no payload', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { onStream: (_, stream) => stream.reply(3) } });
    const atDialer = inspect(dialer);
    const atAcceptor = inspect(acceptor);
    await dialer.request(SUM, { headers: { token: 'secret' } });
    const shown = timeless(atDialer.lines);
    expect(shown).toEqual([
      { v: 1, t: 0, c: 1, d: '>', b: 100, n: 'sum', f: { type: 'open', stream: 1, end: true, payload: new Omitted(100) } },
      { v: 1, t: 0, c: 1, d: '<', b: 49, f: { type: 'data', stream: 1, end: true, payload: new Omitted(49) } },
    ]);
    expect(timeless(atAcceptor.lines)).toEqual(shown);
    atDialer.close();
    atAcceptor.close();
  });

  it('The label of a peer names its streams, and the first key names a payload that was cut', async () => {
    const { dialer } = createPair({
      maxFrameBytes: 1_024,
      dialer: { label: (payload) => (payload === 1 ? 'one' : '') },
      acceptor: { onStream: (_, stream) => stream.reply(null) },
    });
    const inspection = inspect(dialer);
    await dialer.request(1);
    await dialer.request({ op: 'upload', text: 'x'.repeat(2_000) });
    expect(inspection.lines.flatMap(({ n }) => n ?? [])).toEqual(['one', 'upload']);
    inspection.close();
  });

  it('The history keeps the last lines only', async () => {
    const { dialer } = createPair({ acceptor: { onStream: (_, stream) => stream.reply(null) } });
    const inspection = inspect(dialer, { historyLines: 3 });
    for (let n = 0; n < 20; n++) await dialer.request(n);
    expect(inspection.lines.map(({ f }) => f?.['stream'])).toEqual([37, 39, 39]);
    inspection.close();
  });

  it('The history forgets old lines', async () => {
    const time = virtualTime();
    try {
      const { dialer } = createPair(TAKES);
      const inspection = inspect(dialer, { historyMs: 1_000 });
      dialer.notify('first');
      await time.advance(2_000);
      dialer.notify('second');
      await time.advance(10);
      expect(opens(inspection.lines).map(({ t, f }) => [t, f?.['stream']])).toEqual([[2_000, 3]]);
      inspection.close();
    } finally {
      time.restore();
    }
  });

  it('A redacted frame is shown as its redaction returns it, and stays out where that is null or fails', async () => {
    const { dialer } = createPair({ acceptor: { onStream: (_, stream) => stream.reply(null) } });
    const inspection = inspect(dialer, {
      historyMs: 0,
      redact: (frame) => {
        if (frame.payload === 'broken') throw new Error('no');
        return frame.type === 'data' ? null : { ...frame, payload: 'hidden' };
      },
    });
    const batch = firstValueFrom(inspection.feed(of(true)).pipe(filter(({ lines }) => lines.length > 0)));
    await dialer.request('broken');
    await dialer.request('secret');
    expect((await batch).lines.map(({ n, f }) => [n, f?.['payload']])).toEqual([[undefined, 'hidden']]);
    inspection.close();
  });

  it.each([
    ['a peer', () => inspect({} as never)],
    ['a number of at least 0', () => inspect(createPair().dialer, { historyMs: -1 })],
    ['a function', () => inspect(createPair().dialer, { redact: 1 as never })],
  ])('A bad argument is refused: expected %s', (_, call) => {
    expect(call).toThrow(TypeError);
  });
});

describe('the feed of an inspection', () => {
  it('A feed begins with the history, and goes on in batches of 50 ms', async () => {
    const time = virtualTime();
    try {
      const { dialer } = createPair(TAKES);
      const inspection = inspect(dialer);
      dialer.notify('before');
      await time.advance(100);
      const seen: (readonly [at: number, streams: unknown[]])[] = [];
      inspection.feed(NEVER).subscribe(({ at, lines }) => seen.push([at, opens(lines).map(({ f }) => f?.['stream'])]));
      await time.advance(10);
      dialer.notify('first');
      dialer.notify('second');
      await time.advance(100);
      expect(seen).toEqual([
        [100, [1]],
        [150, [3, 5]],
      ]);
      await time.advance(1_000);
      expect(seen.slice(2).map(([at]) => at)).toEqual([650, 1_150]);
      inspection.close();
    } finally {
      time.restore();
    }
  });

  it('A feed has payloads from the moment on in which its viewer asks for them', async () => {
    const time = virtualTime();
    try {
      const { dialer } = createPair(TAKES);
      const inspection = inspect(dialer, { historyMs: 0 });
      const payloads$ = new Subject<boolean>();
      const payloads: unknown[] = [];
      inspection.feed(payloads$).subscribe(({ lines }) => payloads.push(...opens(lines).map(({ f }) => f?.['payload'])));
      for (const asked of [false, true, false]) {
        payloads$.next(asked);
        dialer.notify('hi');
        await time.advance(100);
      }
      expect(payloads).toEqual([expect.any(Omitted), 'hi', expect.any(Omitted)]);
      inspection.close();
    } finally {
      time.restore();
    }
  });

  it('Without a history, a peer is watched only while a viewer is there', () => {
    const { dialer } = createPair();
    const inspection = inspect(dialer, { historyMs: 0 });
    dialer.notify('unseen');
    const subscription = inspection.feed(NEVER).subscribe();
    subscription.unsubscribe();
    expect(inspection.lines).toEqual([]);
    inspection.close();
  });

  it('A closed inspection completes its feeds', () => {
    const inspection = inspect(createPair().dialer);
    let completed = false;
    inspection.feed(NEVER).subscribe({ complete: () => (completed = true) });
    inspection.close();
    inspection.close();
    expect(completed).toBe(true);
  });

  it('Each connection of the peers of a server has a number of its own, and other peers wait for a place', async () => {
    const server = createServer({ onStream: (_, stream) => stream.reply(null) });
    const inspection = inspect(server, { maxPeers: 2 });
    const dial = (): ReturnType<typeof connect> => connect('ws://test', { socket: server.socket, keepalive: false });
    const [first, second, third] = [dial(), dial(), dial()];
    for (const peer of [first, second, third]) await peer.request('hi');
    await first.close();
    const fourth = dial();
    await fourth.request('hi');
    expect(opens(inspection.lines).map(({ c, f }) => [c, f?.['type']])).toEqual([
      [1, 'open'],
      [2, 'open'],
      [3, 'open'],
    ]);
    inspection.close();
    for (const peer of [second, third, fourth]) await peer.close();
  });

  it('A batch counts the connected peers that have no place', async () => {
    const server = createServer({ onStream: (_, stream) => stream.reply(null) });
    const inspection = inspect(server, { maxPeers: 2 });
    const peers = Array.from({ length: 5 }, () => connect('ws://test', { socket: server.socket, keepalive: false }));
    for (const peer of peers) await peer.request('hi');
    const counts = async (): Promise<unknown[]> => {
      const { peers: watched, unwatched } = await firstValueFrom(inspection.feed(NEVER));
      return [watched.length, unwatched];
    };
    expect(await counts()).toEqual([2, 3]);
    await peers[4]?.close();
    expect(await counts()).toEqual([2, 2]);
    inspection.close();
    for (const peer of peers) await peer.close();
  });
});
