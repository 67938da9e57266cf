import { afterEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { BYTES_PER_PING, REFUSED_OPENS } from '../../src/connection/inbound.js';
import { DEFAULT_LIMITS, MAX_FRAME_BYTES, ResetCode } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { encodedLength } from '../../src/wire/length.js';
import { MIN_CHARGE_BYTES } from '../../src/wire/reassembly.js';
import { describeHostile, TOO_BIG, TOO_MUCH } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { opens, quietly, times } from '../support/hostile/floods.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import { firstCall, holdsNothing, isOpen } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { progressOf } from '../support/peer/outcome.js';

describe('floods control', () => {
  const { CANCEL, PROTOCOL_ERROR, REFUSED } = ResetCode;
  const { pings: PING_RATE, maxControlFrames, maxMessageBytes } = DEFAULT_LIMITS;

  const MIB = 1024 * 1024;

  const pings = (count: number, nonce: (n: number) => string = String): Envelope[] =>
    times(count, (n) => ({ type: 'ping', nonce: nonce(n) }));
  const pongs = (count: number, nonce: (n: number) => string = String): Envelope[] =>
    times(count, (n) => ({ type: 'pong', nonce: nonce(n) }));

  const BURST = PING_RATE.burst;

  const PINGS: readonly HostileCase[] = [
    { name: `The peer answers ${BURST} pings, each once and in order`, send: pings(BURST), expect: 'lives', sends: pongs(BURST) },
    { name: 'The peer ends the connection at one ping more than the burst', send: pings(BURST + 1), expect: TOO_MUCH, sends: pongs(BURST) },
    {
      name: `The peer answers ${PING_RATE.perSecond} more pings a second later, and ends the connection at one more`,
      send: [...pings(BURST), 1_000, ...pings(PING_RATE.perSecond + 1)],
      expect: TOO_MUCH,
      sends: [...pongs(BURST), ...pongs(PING_RATE.perSecond)],
    },
    {
      name: `Other frames of ${BYTES_PER_PING} bytes earn one more ping`,
      send: [...opens(1), ...pings(BURST), { type: 'data', stream: 3, payload: 'x'.repeat(BYTES_PER_PING) }, ...pings(2)],
      expect: TOO_MUCH,
      sends: [...pongs(BURST), ...pongs(1)],
      handlerCalls: 1,
    },
    {
      name: 'The peer answers a ping without a nonce by a pong without one',
      send: [{ type: 'ping' }],
      expect: 'lives',
      sends: [{ type: 'pong' }],
    },
    {
      name: 'The peer returns a nonce of 60 KB once and unchanged',
      send: [{ type: 'ping', nonce: 'é\n"'.repeat(10_000) }],
      expect: 'lives',
      sends: [{ type: 'pong', nonce: 'é\n"'.repeat(10_000) }],
    },
    {
      name: 'The peer counts a nonce whose pong does not fit a message as junk',
      options: { limits: { junk: { burst: 10, perSecond: 0 } } },
      send: pings(11, () => 'x'.repeat(MAX_FRAME_BYTES)),
      expect: TOO_MUCH,
    },
  ];

  /** From here on the socket takes no bytes. */
  const stop = ({ socket }: HostilePeer): void => {
    socket.bufferedAmount = MIB;
  };

  /** The socket takes everything again, and some time passes until the peer notices. */
  const flow: readonly Step[] = [
    ({ socket }) => {
      socket.bufferedAmount = 0;
    },
    50,
  ];

  const NEVER = 90_001;
  const dataOfNever = (count: number): Envelope[] => times(count, (n) => ({ type: 'data', stream: NEVER + 2 * n, payload: 'x' }));

  /** A nonce of 32 Ki characters, and the number of such nonces that makes 1 Mi characters. */
  const long = (n: number): string => String(n).padStart(32 * 1024);
  const NONCES = 32;

  /** Frames that the peer answers, from a remote that does not read the answers. */
  const UNREAD: readonly HostileCase[] = [
    {
      name: `The peer queues ${maxControlFrames} pongs until the remote reads`,
      send: [stop, ...pings(maxControlFrames), ...flow],
      expect: 'lives',
      sends: pongs(maxControlFrames),
    },
    {
      name: `The peer ends the connection at one unread pong more than ${maxControlFrames}`,
      options: { limits: { pings: { burst: 2 * maxControlFrames, perSecond: 0 } } },
      send: [stop, ...pings(maxControlFrames + 1)],
      expect: { ...TOO_MUCH, because: 'maxControlFrames' },
    },
    {
      name: `The peer queues ${NONCES} pongs with nonces of 1 Mi characters in all until the remote reads, again and again`,
      send: [stop, ...pings(NONCES, long), ...flow, stop, ...pings(NONCES, long), ...flow],
      expect: 'lives',
      sends: [...pongs(NONCES, long), ...pongs(NONCES, long)],
    },
    {
      name: 'The peer ends the connection at one character more in the nonces of unread pongs',
      send: [stop, ...pings(NONCES, long), isOpen, ...pings(1)],
      expect: { ...TOO_MUCH, because: 'unread pongs' },
    },
    {
      name: `The peer queues ${maxControlFrames} refusals until the remote reads, and calls no handler`,
      options: { limits: { maxStreams: 2 } },
      send: [stop, ...opens(maxControlFrames + 1), ...flow, { type: 'reset', stream: 3, code: CANCEL }],
      expect: 'lives',
      resets: times(maxControlFrames, (n) => [5 + 2 * n, REFUSED] as const),
      handlerCalls: 1,
    },
    {
      name: `The peer ends the connection at one unread refusal more than ${maxControlFrames}`,
      options: { limits: { maxStreams: 2 } },
      send: [stop, ...opens(maxControlFrames + 2)],
      expect: { ...TOO_MUCH, because: 'maxControlFrames' },
      handlerCalls: 1,
    },
    {
      name: `The peer queues ${maxControlFrames} resets of never opened streams until the remote reads`,
      send: [stop, ...dataOfNever(maxControlFrames), ...flow],
      expect: 'lives',
      resets: dataOfNever(maxControlFrames).map(({ stream }) => [Number(stream), PROTOCOL_ERROR] as const),
    },
    {
      name: `The peer ends the connection at one unread reset more than ${maxControlFrames}`,
      send: [stop, ...dataOfNever(maxControlFrames + 1)],
      expect: { ...TOO_MUCH, because: 'maxControlFrames' },
    },
    {
      name: 'The peer does not count answers that the remote has read in between',
      send: [stop, ...pings(600), ...flow, stop, ...pings(400), ...flow, stop, ...dataOfNever(900), ...flow],
      expect: 'lives',
      sends: [...pongs(600), ...pongs(400)],
      resets: dataOfNever(900).map(({ stream }) => [Number(stream), PROTOCOL_ERROR] as const),
    },
    {
      name: 'A stream that the peer has reset keeps its place until the reset has left',
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
      name: 'Pongs leave ahead of the data of the peer',
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

  /** Sends an open whose message has exactly this number of bytes. */
  const sized =
    (bytes: number): Step =>
    (remote) => {
      const open = (length: number): Envelope => ({ type: 'open', stream: 3, headers: { big: 'x'.repeat(length) } });
      const around = encodedLength(remote.written(open(bytes))) - bytes;
      remote.send(open(bytes - around));
    };

  const big = Object.fromEntries(times(5_000, (n) => [`key${n}`, n] as const));

  const HEADERS: readonly HostileCase[] = [
    {
      name: `The peer accepts headers in a message of ${maxMessageBytes} bytes`,
      send: [sized(maxMessageBytes)],
      expect: 'lives',
      handlerCalls: 1,
    },
    { name: 'The peer ends the connection at headers in a message of one byte more', send: [sized(maxMessageBytes + 1)], expect: TOO_BIG },
    {
      name: 'The peer ends the connection at headers in a message of four times that size',
      send: [sized(4 * maxMessageBytes)],
      expect: TOO_BIG,
    },
    {
      name: 'The handler receives 5 000 headers unchanged',
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
      name: 'The peer keeps no headers of 300 later frames with 60 KB each',
      send: [
        ...opens(1),
        ...times(300, (n) => ({ type: 'data', stream: 3, headers: { big: 'x'.repeat(60_000) }, payload: n })),
        holdsNothing,
        ({ session: { budget } }) => {
          // The two opens, each with the least charge of a frame.
          expect(budget.attached.used).toBe(2 * MIN_CHARGE_BYTES);
        },
      ],
      expect: 'lives',
      got: [['p', ...times(300, (n) => n)]],
    },
  ];

  describeHostile('floods of pings', quietly(PINGS));
  describeHostile('unread answers', quietly(UNREAD));
  describeHostile('huge headers', quietly(HEADERS));
});

describe('floods goaway', () => {
  const { INTERNAL_ERROR, NO_ERROR, PROTOCOL_ERROR, REFUSED } = ResetCode;

  /** Skips the frames that the peer has sent so far. */
  const forget = (remote: HostilePeer): void => {
    remote.news();
  };

  const openFour: Step = (remote) => {
    for (const payload of ['a', 'b', 'c', 'd']) remote.open(payload);
    remote.news();
  };

  const GOAWAYS: readonly HostileCase[] = [
    {
      name: 'A later goaway lowers the cut and never raises it, and each stream above it fails once as refused',
      send: [
        openFour,
        { type: 'goaway', code: NO_ERROR, last_stream: 8 },
        { type: 'goaway', code: NO_ERROR, last_stream: 4 },
        { type: 'goaway', code: NO_ERROR, last_stream: 10 },
        { type: 'data', stream: 4, payload: 'goes on' },
      ],
      expect: 'lives',
      gotBack: [['goes on'], ['REFUSED'], ['REFUSED'], ['REFUSED']],
    },
    {
      name: 'A goaway without last_stream refuses no stream',
      send: [openFour, { type: 'goaway' }, { type: 'data', stream: 10, payload: 'goes on' }],
      expect: 'lives',
      gotBack: [[], [], [], ['goes on']],
    },
    {
      name: 'A goaway with an id of the remote cuts below that id',
      role: 'acceptor',
      send: [openFour, { type: 'goaway', code: NO_ERROR, last_stream: 7 }],
      expect: 'lives',
      gotBack: [[], [], ['REFUSED'], ['REFUSED']],
    },
    {
      name: 'The peer counts a goaway with the same code and no lower last_stream as junk',
      options: { limits: { junk: { burst: 2, perSecond: 0 } } },
      send: [
        ...[4, 4, 10].map((last_stream) => ({ type: 'goaway', code: NO_ERROR, last_stream })),
        { type: 'goaway', code: INTERNAL_ERROR, last_stream: 4 },
        isOpen,
        { type: 'goaway', code: INTERNAL_ERROR, last_stream: 10 },
      ],
      expect: TOO_MUCH,
    },
    {
      name: 'The peer ends the connection at the 101st goaway',
      send: [
        ...times(100, (n) => ({ type: 'goaway', code: NO_ERROR, last_stream: 1_000 - n })),
        isOpen,
        { type: 'goaway', code: NO_ERROR, last_stream: 900 },
      ],
      expect: { ...TOO_MUCH, because: 'goaways' },
    },
    {
      name: 'The peer handles 100 equal goaways like one',
      send: () => {
        const states: string[] = [];
        return [
          openFour,
          ({ peer }) => {
            peer.status$.subscribe(({ state }) => states.push(state));
          },
          ...times(100, () => ({ type: 'goaway', code: NO_ERROR, last_stream: 4 })),
          () => {
            if (states.join() !== 'open,draining') throw new Error(`expected one change of the status, got ${states.join()}`);
          },
        ];
      },
      expect: 'lives',
      gotBack: [[], ['REFUSED'], ['REFUSED'], ['REFUSED']],
    },
    {
      name: 'A call after a goaway fails as refused and sends nothing',
      send: () => {
        let progress: { readonly error: unknown } = { error: null };
        return [
          { type: 'goaway', code: NO_ERROR, last_stream: 2 },
          ({ peer }) => {
            progress = progressOf(peer.request('late'));
          },
          0,
          () => {
            if (!String(progress.error).includes('refused')) throw new Error(`expected a refusal, got ${String(progress.error)}`);
          },
        ];
      },
      expect: 'lives',
    },
    {
      name: 'The peer closes one second after a goaway with an error, even if others follow',
      send: [
        { type: 'goaway', code: INTERNAL_ERROR, last_stream: 2 },
        600,
        { type: 'goaway', code: INTERNAL_ERROR, last_stream: 2 },
        { type: 'goaway', code: PROTOCOL_ERROR, last_stream: 2 },
        399,
        isOpen,
        1,
      ],
      expect: { goaway: null, close: 1000 },
    },
    {
      name: 'The peer refuses opens above its own goaway, and counts them as junk',
      options: { limits: { junk: { burst: 10, perSecond: 0 } } },
      send: [({ peer }) => void peer.close({ drainMs: 1_000 }), forget, ...opens(11)],
      expect: TOO_MUCH,
      resets: times(11, (n) => [3 + 2 * n, REFUSED] as const),
    },
  ];

  describeHostile('goaways', quietly(GOAWAYS));
});

describe('refused opens', () => {
  /** Streams that a server accepts, opens without an answer, and refusals after which the attack ends. */
  const [TAKEN, UNANSWERED, REFUSALS] = [1_000, 500, 12_000];

  /** The most opens that one read brings before the rest. */
  const OPENS_PER_READ = 2_000;

  collectLogs();

  let server: MuxServer;

  afterEach(async () => {
    await server.close({ drainMs: 0 });
  });

  it('A server slows an attacker whose opens it refuses, keeps the connection, and answers an honest caller', async () => {
    const forever = new Promise<void>(() => undefined);
    server = serve({ port: 0, host: '127.0.0.1', onStream: (payload, stream) => (payload === null ? forever : stream.reply(payload)) });
    const { port } = await server.listening;
    const url = `ws://127.0.0.1:${port}/`;
    const honest = connect(url);
    await honest.opened;
    const attacker = new WebSocket(url, ['mux.v1.json']);
    await new Promise((resolve) => attacker.once('open', resolve));
    let refusals = 0;
    let id = -1;
    const open = (): void => {
      attacker.send(`{"type":"open","stream":${(id += 2)}}`);
    };
    attacker.on('message', () => {
      refusals++;
      open();
    });
    const began = performance.now();
    for (let n = 0; n < TAKEN + UNANSWERED; n++) open();
    let answers = 0;
    while (refusals < REFUSALS) answers += Number(await honest.request(1));
    expect(attacker.readyState).toBe(WebSocket.OPEN);
    // Holds at any speed of the machine. Without rests it takes a fraction of a second to refuse them all.
    const seconds = (performance.now() - began) / 1_000;
    expect(refusals).toBeLessThanOrEqual(REFUSED_OPENS.burst + REFUSED_OPENS.perSecond * seconds + OPENS_PER_READ);
    // Holds at any speed, too: no read of the attacker's opens goes by without an answer.
    expect(answers).toBeGreaterThan(refusals / OPENS_PER_READ);
    attacker.terminate();
    await honest.close();
  });
});
