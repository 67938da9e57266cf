import { describe, expect, it, jest } from '@jest/globals';
import { of, Subject } from 'rxjs';
import { JsonCodec } from '../../../src/codec/json.js';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import { hook } from '../../../src/peer/operators/hooks.js';
import { observeFrames } from '../../../src/peer/operators/hooks.js';
import type { Peer } from '../../../src/peer/peer.js';
import { createPair } from '../../../src/testing.js';
import type { Codec } from '../../../src/wire/codec.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('Every hook', () => {
  const KINDS: readonly (readonly [kind: string, (peer: Peer, hook: () => undefined) => () => void])[] = [
    ['interceptOpen', (peer, hook) => peer.interceptOpen(hook)],
    ['interceptReplyHeaders', (peer, hook) => peer.interceptReplyHeaders(hook)],
    ['interceptIncomingHeaders', (peer, hook) => peer.interceptIncomingHeaders(hook)],
    ['onFrame', (peer, hook) => peer.onFrame(hook)],
    ['onClose', (peer, hook) => peer.onClose(hook)],
  ];

  async function exchange(register: (peer: Peer) => void): Promise<void> {
    const { dialer, acceptor } = createPair();
    register(dialer);
    register(acceptor);
    acceptor.onStream((_, stream) => stream.reply('r'));
    void dialer.request('p');
    await time.advance();
    void dialer.close();
    await time.advance();
  }

  it.each(KINDS)('Hooks of `%s` run in the order of registration, and twice when registered twice', async (_kind, add) => {
    const seen: number[] = [];
    const first = (): undefined => void seen.push(1);
    const second = (): undefined => void seen.push(2);
    await exchange((peer) => {
      add(peer, first);
      add(peer, second);
      add(peer, first);
    });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).toEqual(Array.from({ length: seen.length / 3 }, () => [1, 2, 1]).flat());
  });

  it.each(KINDS)('`%s` returns a function that removes its hook, and may be called twice', async (_kind, add) => {
    const seen: string[] = [];
    const hook = (): undefined => void seen.push('once');
    await exchange((peer) => {
      const remove = add(peer, hook);
      add(peer, hook);
      remove();
      remove();
    });
    const kept: string[] = [];
    await exchange((peer) => {
      add(peer, () => void kept.push('once'));
    });
    expect(seen).toEqual(kept);
  });
});

describe('`onStream`', () => {
  it('`onStream` replaces an earlier handler with a warning', async () => {
    const { dialer, acceptor } = createPair();
    const first = jest.fn<StreamHandler>();
    acceptor.onStream(first);
    expect(logs.warnings).toEqual([]);
    acceptor.onStream((_, stream) => stream.reply('second'));
    expect(logs.warnings).toEqual([expect.stringContaining('second onStream handler')]);
    const answer = dialer.request();
    await time.advance();
    expect(await answer).toBe('second');
    expect(first).not.toHaveBeenCalled();
  });

  it('`onStream` returns a function that removes only its own handler', async () => {
    const { dialer, acceptor } = createPair();
    const removeFirst = acceptor.onStream((_, stream) => stream.reply('first'));
    const removeSecond = acceptor.onStream((_, stream) => stream.reply('second'));
    removeFirst();
    const answer = dialer.request();
    await time.advance();
    expect(await answer).toBe('second');
    removeSecond();
    const refused = settled(dialer.request());
    await time.advance();
    expect(await refused).toMatchObject({ error: { code: 'REFUSED', retriable: true } });
    acceptor.onStream((_, stream) => stream.reply('third'));
    expect(logs.warnings.filter((line) => line.includes('a second onStream handler'))).toHaveLength(1);
  });
});

describe('Frame observer', () => {
  it("A frame observer sees each frame once: before a user's codec encodes it, or after the codec decoded it", async () => {
    const json = new JsonCodec();
    const seen: string[] = [];
    const codec: Codec = {
      name: 'json',
      binary: false,
      encode: (frame) => {
        seen.push(`encode ${frame.type}`);
        return json.encode(frame);
      },
      decode: (message) => {
        const frame = json.decode(message);
        seen.push(`decode ${frame.type}`);
        return frame;
      },
      encodePayload: (payload) => json.encodePayload(payload),
      decodePayload: (data) => json.decodePayload(data),
    };
    const { dialer, acceptor } = createPair({ dialer: { codec } });
    acceptor.onStream((_, stream) => stream.reply('r'));
    dialer.onFrame((direction, { type }) => seen.push(`${direction} ${type}`));
    void dialer.request('p');
    await time.advance();
    expect(seen).toEqual(['tx open', 'encode open', 'decode data', 'rx data']);
  });

  it('A frame observer receives the direction and the frame, and no other argument', async () => {
    const { dialer, acceptor } = createPair();
    const given: unknown[][] = [];
    dialer.onFrame((...args) => given.push(args));
    of(acceptor)
      .pipe(observeFrames((...args) => given.push(args)))
      .subscribe();
    dialer.notify('p');
    await time.advance();
    expect(new Set(given.map((args) => args.length))).toEqual(new Set([2]));
  });

  it('A frame observer cannot change frames: it sees a frozen copy, and its error is logged', async () => {
    const { dialer, acceptor } = createPair();
    for (const peer of [dialer, acceptor])
      peer.onFrame((_direction, frame) => {
        Object.assign(frame, { stream: 77 });
      });
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const answer = settled(dialer.request('p'));
    await time.advance();
    expect(await answer).toEqual({ value: 'p' });
    expect(logs.errors).toEqual(Array<string>(4).fill('rxmux: a frame observer failed'));
  });
});

describe('Close handler', () => {
  it('A close handler that throws is logged, and the later ones still run', async () => {
    const { dialer, link } = createPair();
    const seen: number[] = [];
    dialer.onClose(() => {
      throw new Error('no');
    });
    dialer.onClose(({ code }) => seen.push(code));
    link.cut();
    await time.advance();
    expect([seen, logs.errors]).toEqual([[1006], ['rxmux: a close handler failed']]);
  });
});

describe('Hooks that an operator adds to peers', () => {
  it('`hook` removes its hook when a peer ends, and its other hooks when it is unsubscribed', async () => {
    const { dialer } = createPair();
    const { dialer: other } = createPair();
    const removed: string[] = [];
    const peers$ = new Subject<Peer>();
    const hanging = peers$.pipe(hook((peer) => () => void removed.push(peer === dialer ? 'ended' : 'live'))).subscribe();
    peers$.next(dialer);
    peers$.next(other);
    void dialer.close();
    await time.advance();
    expect(removed).toEqual(['ended']);
    hanging.unsubscribe();
    expect(removed).toEqual(['ended', 'live']);
  });
});
