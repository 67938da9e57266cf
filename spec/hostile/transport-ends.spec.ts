import { expect } from '@jest/globals';
import { describeHostile } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { unfinished } from '../support/hostile/messages.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import { firstCall } from '../support/hostile/steps.js';

const MIB = 1024 * 1024;

const holdsMuch: Step = ({ socket }) => {
  socket.bufferedAmount = 2 * MIB;
};

const sendsMore: Step = ({ innocents: [theirs] }) => {
  void theirs?.stream.send('x'.repeat(MIB)).catch(() => undefined);
};

/** Ways in which a socket ends, each with the reason that close handlers receive. */
const ENDS: readonly (readonly [how: string, end: (remote: HostilePeer) => void, told: object])[] = [
  [
    'closes without an error',
    ({ socket }) => socket.emit('close', { code: 1006, reason: '', wasClean: false }, 'CLOSED'),
    { code: 1006, reason: '', wasClean: false },
  ],
  [
    'closes in good order of its own accord',
    ({ socket }) => socket.emit('close', { code: 1000, reason: 'bye', wasClean: true }, 'CLOSED'),
    { code: 1000, reason: 'bye', wasClean: true },
  ],
  ['closes without a code', ({ socket }) => socket.emit('close', {}, 'CLOSED'), { code: 1006, reason: '', wasClean: false }],
  [
    'closes twice',
    ({ socket }) => {
      socket.emit('close', { code: 1001 }, 'CLOSED');
      socket.emit('close', { code: 1011 }, 'CLOSED');
    },
    { code: 1001, reason: '', wasClean: true },
  ],
  [
    'fails without a close',
    ({ socket }) => socket.emit('error', { message: 'reset' }, 'CLOSED'),
    { code: 1006, reason: 'reset', wasClean: false },
  ],
  [
    'fails, then closes',
    ({ socket }) => {
      socket.emit('error', { message: 'reset' }, 'CLOSED');
      socket.emit('close', { code: 1006 }, 'CLOSED');
    },
    { code: 1006, reason: 'reset', wasClean: false },
  ],
  [
    'closes, then fails',
    ({ socket }) => {
      socket.emit('close', { code: 1006 }, 'CLOSED');
      socket.emit('error', { message: 'reset' }, 'CLOSED');
    },
    { code: 1006, reason: '', wasClean: false },
  ],
  [
    'fails many times, then closes',
    ({ socket }) => {
      for (let n = 0; n < 100; n++) socket.emit('error', { message: 'odd' });
      socket.emit('close', { code: 1006 }, 'CLOSED');
    },
    { code: 1006, reason: 'odd', wasClean: false },
  ],
];

/** Activities during which the socket ends. */
const MIDDLES: readonly (readonly [when: string, before: (binary: boolean) => readonly Step[], calls: number])[] = [
  ['at rest', () => [], 0],
  ['amid a fragmented open', (binary) => [{ type: 'open', stream: 3, fragment: unfinished(binary), more: true }], 0],
  [
    'amid a fragmented payload',
    (binary) => [
      { type: 'open', stream: 3 },
      { type: 'data', stream: 3, fragment: unfinished(binary), more: true },
    ],
    1,
  ],
  [
    'with unread payloads',
    () => [
      { type: 'open', stream: 3 },
      { type: 'data', stream: 3, payload: 'x' },
    ],
    1,
  ],
  [
    'with a queued reset',
    () => [
      { type: 'open', stream: 3 },
      holdsMuch,
      (remote) => {
        firstCall(remote).stream.reset(300);
      },
    ],
    1,
  ],
  ['with a queued transfer', () => [holdsMuch, sendsMore], 0],
  [
    'with pending calls',
    () => [
      ({ peer }) => {
        for (const call of [peer.request('q'), peer.ping()]) void call.catch(() => undefined);
      },
    ],
    0,
  ],
  ['during a drain', () => [({ peer }) => void peer.close({ drainMs: 10_000 })], 0],
];

const ends = ENDS.flatMap(([how, end, told]) =>
  MIDDLES.map(([when, before, handlerCalls]): HostileCase => ({
    name: `Each stream fails once and nothing is left when the socket ${how} ${when}`,
    send: ({ binary }) => {
      const closes: object[] = [];
      return [
        ({ peer }) => {
          peer.onClose((reason) => closes.push(reason));
        },
        ...before(binary),
        end,
        0,
        (remote) => {
          expect([closes, remote.peer.status.state]).toEqual([[{ ...told, willRetry: false }], 'closed']);
          const sent = remote.socket.sent.length;
          remote.send({ type: 'open', stream: 9, payload: 'late' }, { type: 'data', stream: 1, payload: 'late' });
          remote.peer.notify('late');
          expect(remote.socket.sent).toHaveLength(sent);
          remote.news();
        },
      ];
    },
    expect: 'lost',
    handlerCalls,
  })),
);

describeHostile('ends of sockets', ends);
