import { expect } from '@jest/globals';
import { DEFAULT_LIMITS, ResetCode } from '../../src/index.js';
import { describeHostile, PROTOCOL } from '../support/hostile/case.js';
import type { HostileCase, Step } from '../support/hostile/case.js';
import { slices } from '../support/hostile/messages.js';
import { SECRET } from '../support/hostile/peer.js';
import type { HostilePeer } from '../support/hostile/peer.js';
import { data, firstCall, firstOpened, framed, holdsNothing, MINE, NOTHING_SPARE, open, opens, reset } from '../support/hostile/steps.js';
import type { Envelope } from '../support/peer/frames.js';

const PIECES = 5;
const PAYLOAD = `${SECRET} in ${PIECES} pieces`;

/** A place where a fragmented payload arrives, and what its reader has received before. */
interface Place {
  readonly where: string;
  readonly before: readonly Step[];
  readonly stream: number;
  readonly frame: (fields: Envelope) => Envelope;
  readonly sends: readonly Envelope[];
  /** Values that the handler or the reader of the peer's stream has received. `null` if no handler has been called. */
  readonly told: readonly unknown[] | null;
  readonly resets: ((remote: HostilePeer) => void) | null;
}

const PLACES: readonly Place[] = [
  { where: 'an open', before: [], stream: 3, frame: (fields) => open(3, fields), sends: [], told: null, resets: null },
  {
    where: 'data',
    before: [open(3)],
    stream: 3,
    frame: (fields) => data(3, fields),
    sends: [],
    told: [SECRET],
    resets: (remote) => {
      firstCall(remote).stream.reset(ResetCode.CANCEL);
    },
  },
  {
    where: 'an answer',
    before: [opens],
    stream: 4,
    frame: (fields) => data(4, fields),
    sends: [MINE],
    told: [],
    resets: (remote) => {
      firstOpened(remote).stream.reset(ResetCode.CANCEL);
    },
  },
];

const cutOff: Step = (remote) => {
  remote.endSocket(1006);
};
const closedCleanly: Step = (remote) => {
  remote.endSocket(1000);
};
const holdsSome: Step = ({ session }) => {
  expect(session.budget.held.used).toBeGreaterThan(0);
};

/** An event that cuts a payload off, and its outcome. */
interface Break {
  readonly by: string;
  readonly steps: (place: Place) => readonly Step[];
  readonly expect: HostileCase['expect'];
  /** The error that the reader receives. */
  readonly told: string | null;
  readonly resets?: ResetCode;
  /** Whether the other fragments still arrive, without a stream to receive them. */
  readonly goesOn?: boolean;
}

const BREAKS: readonly Break[] = [
  { by: 'the loss of the socket', steps: () => [cutOff], expect: 'lost', told: 'CONNECTION_LOST' },
  { by: 'a clean close of the socket', steps: () => [closedCleanly], expect: 'lost', told: 'CONNECTION_LOST' },
  { by: 'an undecodable message', steps: () => [{ type: 1 }], expect: PROTOCOL, told: null },
  {
    by: 'a goaway with an error',
    steps: () => [{ type: 'goaway', code: ResetCode.INTERNAL_ERROR, last_stream: 4 }, 1_000],
    expect: { goaway: null, close: 1000 },
    told: null,
  },
  { by: 'a reset', steps: ({ stream }) => [reset(stream)], expect: 'lives', told: 'RESET', goesOn: true },
  {
    by: 'a reset of this side',
    steps: ({ resets }) => (resets === null ? [] : [resets]),
    expect: 'lives',
    told: 'CANCELLED',
    resets: ResetCode.CANCEL,
    goesOn: true,
  },
  {
    by: 'silence',
    steps: () => [DEFAULT_LIMITS.reassemblyTimeoutMs - 1, holdsSome, 1],
    expect: 'lives',
    told: 'RESET',
    resets: ResetCode.DEADLINE_EXCEEDED,
    goesOn: true,
  },
];

function brokenOff(place: Place, { by, steps, resets, told, goesOn, ...outcome }: Break, after: number): HostileCase {
  const trail = place.told === null ? [] : [[...place.told, ...(told === null ? [] : [told])]];
  return {
    name: `The peer drops ${place.where} that is cut off after ${after} of ${PIECES} fragments by ${by}`,
    options: NOTHING_SPARE,
    send: (codec) => {
      const frames = framed(slices(codec, PAYLOAD, PIECES), place.frame);
      const rest = goesOn === true ? frames.slice(after) : [];
      return [...place.before, ...frames.slice(0, after), holdsSome, ...steps(place), ...(told === null ? [] : [holdsNothing]), ...rest];
    },
    ...outcome,
    sends: place.sends,
    resets: resets === undefined ? [] : [[place.stream, resets]],
    ...(place.stream === 4 ? { gotBack: trail } : { got: trail }),
  };
}

const CUTS = Array.from({ length: PIECES - 1 }, (_, nth) => nth + 1);

for (const each of BREAKS) {
  const places = PLACES.filter(({ resets }) => each.by !== 'a reset of this side' || resets !== null);
  describeHostile(
    `payloads cut off by ${each.by}`,
    places.flatMap((place) => CUTS.map((after) => brokenOff(place, each, after))),
  );
}
