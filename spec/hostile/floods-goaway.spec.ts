import { ResetCode } from '../../src/index.js';
import { describeHostile, TOO_MUCH } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { opens, quietly, times } from '../support/hostile/floods.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import { isOpen } from '../support/hostile/steps.js';
import { progressOf } from '../support/peer/outcome.js';

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
