import { ResetCode } from '../../src/index.js';
import { encodedLength } from '../../src/wire/length.js';
import { describeHostile, TOO_BIG, TOO_MUCH } from '../support/hostile-case.js';
import type { HostileCase, Step } from '../support/hostile-case.js';
import { opens, quietly, times } from '../support/hostile-floods.js';
import type { Envelope } from '../support/peer-frames.js';
import type { HostilePeer } from '../support/hostile-peer.js';

const { CANCEL, PROTOCOL_ERROR, REFUSED } = ResetCode;

const KIB = 1024;
const MIB = 1024 * KIB;

const pings = (count: number, nonce: (n: number) => string = String): Envelope[] =>
  times(count, (n) => ({ type: 'ping', nonce: nonce(n) }));
const pongs = (count: number): Envelope[] => times(count, (n) => ({ type: 'pong', nonce: String(n) }));

const PINGS: readonly HostileCase[] = [
  { name: 'a thousand are answered, each once, in order', send: pings(1_000), expect: 'lives', sends: pongs(1_000) },
  { name: 'one more is not', send: pings(1_001), expect: TOO_MUCH, sends: pongs(1_000) },
  {
    name: '33 more are answered a second later, and no more',
    send: [...pings(1_000), 1_000, ...pings(34)],
    expect: TOO_MUCH,
    sends: [...pongs(1_000), ...pongs(33)],
  },
  {
    name: '256 KiB of anything else earn one more, and only one',
    send: [...opens(1), ...pings(1_000), { type: 'data', stream: 3, payload: 'x'.repeat(256 * KIB) }, ...pings(2)],
    expect: TOO_MUCH,
    sends: [...pongs(1_000), ...pongs(1)],
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
    send: pings(11, () => 'x'.repeat(64 * KIB)),
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

/** What a remote makes the peer answer, and that it does not read. */
const UNREAD: readonly HostileCase[] = [
  { name: 'a thousand pongs wait until it reads', send: [stop, ...pings(1_000), ...flow], expect: 'lives', sends: pongs(1_000) },
  {
    name: 'one more does not',
    options: { limits: { pings: { burst: 2_000, perSecond: 0 } } },
    send: [stop, ...pings(1_001)],
    expect: TOO_MUCH,
  },
  {
    name: 'a thousand pongs with nonces of 60 KB wait, which is less than 64 MiB, and one more does not',
    role: 'acceptor',
    send: [stop, ...pings(1_001, (n) => String(n).padStart(60_000))],
    expect: TOO_MUCH,
  },
  {
    name: 'a thousand refusals wait, and no handler is called',
    options: { limits: { maxStreams: 2 } },
    send: [stop, ...opens(1_001), ...flow, { type: 'reset', stream: 3, code: CANCEL }],
    expect: 'lives',
    resets: times(1_000, (n) => [5 + 2 * n, REFUSED] as const),
    handlerCalls: 1,
  },
  {
    name: 'one refusal more does not',
    options: { limits: { maxStreams: 2 } },
    send: [stop, ...opens(1_002)],
    expect: TOO_MUCH,
    handlerCalls: 1,
  },
  {
    name: 'a thousand resets of what was never opened wait',
    send: [stop, ...dataOfNever(1_000), ...flow],
    expect: 'lives',
    resets: dataOfNever(1_000).map(({ stream }) => [Number(stream), PROTOCOL_ERROR] as const),
  },
  { name: 'one reset more does not', send: [stop, ...dataOfNever(1_001)], expect: TOO_MUCH },
  {
    name: 'what was read in between is no debt any more',
    send: [stop, ...pings(600), ...flow, stop, ...pings(400), ...flow, stop, ...dataOfNever(900), ...flow],
    expect: 'lives',
    sends: [...pongs(600), ...pongs(400)],
    resets: dataOfNever(900).map(({ stream }) => [Number(stream), PROTOCOL_ERROR] as const),
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
  { name: 'a message of 1 MiB of them is taken', send: [sized(MIB)], expect: 'lives', handlerCalls: 1 },
  { name: 'one byte more is not', send: [sized(MIB + 1)], expect: TOO_BIG },
  { name: '4 MiB are not', send: [sized(4 * MIB)], expect: TOO_BIG },
  {
    name: '5 000 of them reach the handler as they are',
    send: [
      { type: 'open', stream: 3, headers: big },
      ({ calls: [call] }) => {
        if (JSON.stringify(call?.stream.headers) !== JSON.stringify(big)) throw new Error('expected all headers');
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
      ({ session }) => {
        if (session.receiveBudget.held.used > 0) throw new Error('expected nothing to be held');
      },
    ],
    expect: 'lives',
    got: [['p', ...times(300, (n) => n)]],
  },
];

describeHostile('a flood of pings', quietly(PINGS));
describeHostile('a remote that does not read what it is answered', quietly(UNREAD));
describeHostile('huge headers', quietly(HEADERS));
