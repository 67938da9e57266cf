import { expect } from '@jest/globals';
import { DEFAULT_LIMITS, MAX_FRAME_BYTES, ResetCode } from '../../src/index.js';
import { BYTES_PER_PING } from '../../src/session/base/flood-guard.js';
import { MIN_CHARGE_BYTES } from '../../src/wire/held-bytes.js';
import { encodedLength } from '../../src/wire/length.js';
import { describeHostile, TOO_BIG, TOO_MUCH } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { opens, quietly, times } from '../support/hostile/floods.js';
import { firstCall, holdsNothing, isOpen } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';
import type { HostilePeer } from '../support/hostile/peer.js';

const { CANCEL, PROTOCOL_ERROR, REFUSED } = ResetCode;
const { pings: PING_RATE, maxControlFrames, maxMessageBytes } = DEFAULT_LIMITS;

const MIB = 1024 * 1024;

const pings = (count: number, nonce: (n: number) => string = String): Envelope[] =>
  times(count, (n) => ({ type: 'ping', nonce: nonce(n) }));
const pongs = (count: number, nonce: (n: number) => string = String): Envelope[] =>
  times(count, (n) => ({ type: 'pong', nonce: nonce(n) }));

const BURST = PING_RATE.burst;

const PINGS: readonly HostileCase[] = [
  { name: `${BURST} are answered, each once, in order`, send: pings(BURST), expect: 'lives', sends: pongs(BURST) },
  { name: 'one more is not', send: pings(BURST + 1), expect: TOO_MUCH, sends: pongs(BURST) },
  {
    name: `${PING_RATE.perSecond} more are answered a second later, and no more`,
    send: [...pings(BURST), 1_000, ...pings(PING_RATE.perSecond + 1)],
    expect: TOO_MUCH,
    sends: [...pongs(BURST), ...pongs(PING_RATE.perSecond)],
  },
  {
    name: `${BYTES_PER_PING} bytes of anything else earn one more, and only one`,
    send: [...opens(1), ...pings(BURST), { type: 'data', stream: 3, payload: 'x'.repeat(BYTES_PER_PING) }, ...pings(2)],
    expect: TOO_MUCH,
    sends: [...pongs(BURST), ...pongs(1)],
    handlerCalls: 1,
  },
  { name: 'one without a nonce gets a pong without one', send: [{ type: 'ping' }], expect: 'lives', sends: [{ type: 'pong' }] },
  {
    name: 'a nonce of 60 KB is sent back once, as it came',
    send: [{ type: 'ping', nonce: 'é\n"'.repeat(10_000) }],
    expect: 'lives',
    sends: [{ type: 'pong', nonce: 'é\n"'.repeat(10_000) }],
  },
  {
    name: 'a nonce whose pong fits no message is junk, of which there may not be too much',
    options: { limits: { junk: { burst: 10, perSecond: 0 } } },
    send: pings(11, () => 'x'.repeat(MAX_FRAME_BYTES)),
    expect: TOO_MUCH,
  },
];

/** From here on the socket takes nothing. */
const stop = ({ socket }: HostilePeer): void => {
  socket.bufferedAmount = MIB;
};

/** It takes everything again, and some time passes until that is noticed. */
const flow: readonly Step[] = [
  ({ socket }) => {
    socket.bufferedAmount = 0;
  },
  50,
];

const NEVER = 90_001;
const dataOfNever = (count: number): Envelope[] => times(count, (n) => ({ type: 'data', stream: NEVER + 2 * n, payload: 'x' }));

/** A nonce of 32 Ki characters, and how many of them are 1 Mi. */
const long = (n: number): string => String(n).padStart(32 * 1024);
const NONCES = 32;

/** What a remote makes the peer answer, and that it does not read. */
const UNREAD: readonly HostileCase[] = [
  {
    name: `${maxControlFrames} pongs wait until it reads`,
    send: [stop, ...pings(maxControlFrames), ...flow],
    expect: 'lives',
    sends: pongs(maxControlFrames),
  },
  {
    name: 'one more does not',
    options: { limits: { pings: { burst: 2 * maxControlFrames, perSecond: 0 } } },
    send: [stop, ...pings(maxControlFrames + 1)],
    expect: { ...TOO_MUCH, because: 'maxControlFrames' },
  },
  {
    name: `${NONCES} pongs with nonces of 32 Ki characters, 1 Mi in all, wait until it reads, again and again`,
    send: [stop, ...pings(NONCES, long), ...flow, stop, ...pings(NONCES, long), ...flow],
    expect: 'lives',
    sends: [...pongs(NONCES, long), ...pongs(NONCES, long)],
  },
  {
    name: 'one character more does not',
    send: [stop, ...pings(NONCES, long), isOpen, ...pings(1)],
    expect: { ...TOO_MUCH, because: 'unread pongs' },
  },
  {
    name: `${maxControlFrames} refusals wait, and no handler is called`,
    options: { limits: { maxStreams: 2 } },
    send: [stop, ...opens(maxControlFrames + 1), ...flow, { type: 'reset', stream: 3, code: CANCEL }],
    expect: 'lives',
    resets: times(maxControlFrames, (n) => [5 + 2 * n, REFUSED] as const),
    handlerCalls: 1,
  },
  {
    name: 'one refusal more does not',
    options: { limits: { maxStreams: 2 } },
    send: [stop, ...opens(maxControlFrames + 2)],
    expect: { ...TOO_MUCH, because: 'maxControlFrames' },
    handlerCalls: 1,
  },
  {
    name: `${maxControlFrames} resets of what was never opened wait`,
    send: [stop, ...dataOfNever(maxControlFrames), ...flow],
    expect: 'lives',
    resets: dataOfNever(maxControlFrames).map(({ stream }) => [Number(stream), PROTOCOL_ERROR] as const),
  },
  {
    name: 'one reset more does not',
    send: [stop, ...dataOfNever(maxControlFrames + 1)],
    expect: { ...TOO_MUCH, because: 'maxControlFrames' },
  },
  {
    name: 'what was read in between is no debt any more',
    send: [stop, ...pings(600), ...flow, stop, ...pings(400), ...flow, stop, ...dataOfNever(900), ...flow],
    expect: 'lives',
    sends: [...pongs(600), ...pongs(400)],
    resets: dataOfNever(900).map(({ stream }) => [Number(stream), PROTOCOL_ERROR] as const),
  },
  {
    name: 'a stream that the peer has reset keeps its place until the reset has left',
    options: { limits: { maxStreams: 2 }, onStream: (_, stream) => stream.reset(300) },
    send: [stop, ...opens(2), ...flow, { type: 'open', stream: 7, payload: 'p' }],
    expect: 'lives',
    resets: [
      [5, REFUSED],
      [3, 300],
      [7, 300],
    ],
    handlerCalls: 2,
  },
  {
    name: 'the pongs leave ahead of what the peer itself has to say',
    send: [
      stop,
      (remote) => {
        void remote.innocents.find(({ stream }) => stream.local)?.stream.send('mine');
      },
      ...pings(3),
      ...flow,
    ],
    expect: 'lives',
    sends: [...pongs(3), { type: 'data', stream: 2, payload: 'mine' }],
  },
];

/** An open of which the message has exactly so many bytes. */
const sized =
  (bytes: number): Step =>
  (remote) => {
    const open = (length: number): Envelope => ({ type: 'open', stream: 3, headers: { big: 'x'.repeat(length) } });
    const around = encodedLength(remote.written(open(bytes))) - bytes;
    remote.send(open(bytes - around));
  };

const big = Object.fromEntries(times(5_000, (n) => [`key${n}`, n] as const));

const HEADERS: readonly HostileCase[] = [
  { name: `a message of ${maxMessageBytes} bytes of them is taken`, send: [sized(maxMessageBytes)], expect: 'lives', handlerCalls: 1 },
  { name: 'one byte more is not', send: [sized(maxMessageBytes + 1)], expect: TOO_BIG },
  { name: 'four times as many are not', send: [sized(4 * maxMessageBytes)], expect: TOO_BIG },
  {
    name: '5 000 of them reach the handler as they are',
    send: [
      { type: 'open', stream: 3, headers: big },
      (remote) => {
        expect(firstCall(remote).stream.headers).toEqual(big);
      },
    ],
    expect: 'lives',
    handlerCalls: 1,
  },
  {
    name: '60 KB of them on each of 300 later frames are not kept',
    send: [
      ...opens(1),
      ...times(300, (n) => ({ type: 'data', stream: 3, headers: { big: 'x'.repeat(60_000) }, payload: n })),
      holdsNothing,
      ({ session: { receiveBudget } }) => {
        // What came with the two opens, each the least that a frame is charged.
        expect(receiveBudget.attached.used).toBe(2 * MIN_CHARGE_BYTES);
      },
    ],
    expect: 'lives',
    got: [['p', ...times(300, (n) => n)]],
  },
];

describeHostile('a flood of pings', quietly(PINGS));
describeHostile('a remote that does not read what it is answered', quietly(UNREAD));
describeHostile('huge headers', quietly(HEADERS));
