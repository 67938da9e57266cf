import { expect } from '@jest/globals';
import type { Peer, Stream } from '../../src/index.js';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase } from '../support/hostile/case.js';
import type { Envelope } from '../support/peer/frames.js';

/** A value, and a method that changes all its parts after a call. */
class Mutable {
  readonly bytes = Uint8Array.of(1, 2, 3);
  readonly value: { list: unknown[]; deep: Record<string, unknown>; bytes?: Uint8Array };

  constructor(binary: boolean) {
    this.value = { list: [1, 2], deep: { a: 1 }, ...(binary ? { bytes: this.bytes } : {}) };
  }

  change(): void {
    this.bytes.fill(0);
    this.value.list.push('late');
    this.value.deep['late'] = true;
    Object.assign(this.value, { list: 'late', late: true });
  }
}

type Value = Mutable['value'];

/** Calls that pass a value, each with the key under which the remote receives it. */
const CALLS: readonly (readonly [what: string, key: keyof Envelope, call: (peer: Peer, stream: Stream, value: Value) => unknown])[] = [
  ['the payload of open', 'payload', (peer, _, value) => peer.open(value)],
  ['the headers of open', 'headers', (peer, _, value) => peer.open('p', { headers: { ...value } })],
  ['the payload of open$', 'payload', (peer, _, value) => peer.open$(value).subscribe({ error: () => undefined })],
  ['the payload of a request', 'payload', (peer, _, value) => void peer.request(value).catch(() => undefined)],
  ['the headers of a request', 'headers', (peer, _, value) => void peer.request('p', { headers: value as never }).catch(() => undefined)],
  ['the payload of a notification', 'payload', (peer, _, value) => peer.notify(value)],
  ['the payload of send', 'payload', (_, stream, value) => stream.send(value)],
  ['the payload of reply', 'payload', (_, stream, value) => stream.reply(value)],
  ['the trailers of reply', 'trailers', (_, stream, value) => stream.reply('p', { trailers: value as never })],
  ['the trailers of end', 'trailers', (_, stream, value) => stream.end({ trailers: value as never })],
  ['reply headers', 'headers', (_, stream, value) => stream.sendHeaders(value)],
  ['the payload of a reset', 'payload', (_, stream, value) => stream.reset(300, 'why', value)],
  ['the payload of an error', 'payload', (_, stream, value) => stream.reset(16, 'why', value)],
];

const cases = CALLS.flatMap(([what, key, call]): HostileCase[] =>
  [false, true].map((waits) => ({
    name: `Later changes do not reach the remote in ${what}, ${waits ? 'queued for the socket' : 'sent at once'}`,
    send: ({ binary }) => {
      const given = new Mutable(binary);
      const meant = structuredClone(given.value);
      return [
        { type: 'open', stream: 3, payload: 'p' },
        ({ peer, socket, calls: [taken] }) => {
          if (waits) socket.bufferedAmount = 1024 * 1024;
          if (taken === undefined) throw new Error('expected the handler to be called');
          void call(peer, taken.stream, given.value);
          given.change();
          socket.bufferedAmount = 0;
        },
        50,
        (remote) => {
          const news = remote.news();
          expect(news.map((frame) => frame[key]).filter((value) => typeof value === 'object')).toEqual([meant]);
        },
        // The rig does not track streams that `call` opens, so the remote ends them.
        { type: 'reset', stream: 4, code: 300 },
      ];
    },
    expect: 'lives',
    handlerCalls: 1,
  })),
);

describeHostile('values that change after a call', cases);
