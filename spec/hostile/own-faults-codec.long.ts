import { describe, expect, it } from '@jest/globals';
import type { Stream, StreamPhase } from '../../src/index.js';
import { WRITING } from '../support/codec/breakable.js';
import { fusedCodecs } from '../support/hostile/codec.js';
import type { Fuse } from '../support/hostile/codec.js';
import { GOOD, HostilePeer } from '../support/hostile/peer.js';
import type { Envelope } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';

const time = virtualPeerTime();
collectLogs();

const BIG = 'x'.repeat(70_000);
const headers = { h: 1 };

/** A call that is repeated, on new streams of the peer or on a stream of the remote. */
interface Call {
  readonly name: string;
  readonly call: (remote: HostilePeer, stream: Stream) => unknown;
  /** Whether the call is made on the remote's stream. */
  readonly on?: 'theirs';
  /** Whether the call ends that stream even if its payload cannot be encoded. */
  readonly resets?: true;
  /** Whether the call measures its frame beforehand, which may fail the call instead of the stream. */
  readonly measured?: true;
}

const CALLS: readonly Call[] = [
  { name: 'open', call: (remote) => remote.open('p') },
  { name: 'open with headers', call: ({ peer }) => void peer.open('p', { headers }).subscribe({ error: () => undefined }) },
  { name: 'open of a payload in fragments', measured: true, call: (remote) => remote.open(BIG) },
  { name: 'notify', call: ({ peer }) => peer.notify('p', { headers }) },
  { name: 'request', call: ({ peer }) => void peer.request('p').catch(() => undefined) },
  { name: 'send', on: 'theirs', call: (_, stream) => stream.send('p') },
  { name: 'send of a payload in fragments', on: 'theirs', measured: true, call: (_, stream) => stream.send(BIG) },
  { name: 'reply', on: 'theirs', call: (_, stream) => stream.reply('p', { trailers: headers }) },
  { name: 'end', on: 'theirs', call: (_, stream) => stream.end({ trailers: headers }) },
  { name: 'reset', on: 'theirs', resets: true, call: (_, stream) => stream.reset(300, 'why', { p: 1 }) },
  { name: 'reset with a payload in fragments', on: 'theirs', resets: true, call: (_, stream) => stream.reset(300, 'why', BIG) },
];

const NTH = Array.from({ length: 20 }, (_, n) => n + 1);

type Table = readonly (readonly [id: number, phase: StreamPhase])[];

/** The call at which the codec broke. */
interface Broken {
  /** The stream that the remote had opened for it. */
  readonly theirs: number;
  readonly threw: boolean;
  /** The live streams before the call and after it. */
  readonly before: Table;
  readonly after: Table;
  /** Frames that the peer sent before the call, and from the call on. */
  readonly sent: readonly Envelope[];
  readonly told: readonly Envelope[];
}

const tableOf = ({ session }: HostilePeer): Table => session.streams.values().map(({ id, phase }) => [Number(id), phase]);

const without = (table: Table, gone: number): Table => table.filter(([id]) => id !== gone);

/** Repeats the call until the codec has broken. The remote opens a stream for each call. */
async function callUntilBroken(remote: HostilePeer, { call }: Call, fuse: Fuse): Promise<Broken> {
  const sent: Envelope[] = [];
  for (let made = 0; made < 25; made++) {
    remote.send({ type: 'open', stream: remote.highest + 2, payload: 'p' });
    const stream = remote.calls.at(-1)?.stream;
    if (stream === undefined) throw new Error('expected the handler to be called');
    const before = tableOf(remote);
    let threw = false;
    try {
      await call(remote, stream);
    } catch {
      threw = true;
    }
    await time.advance(50);
    const told = remote.news();
    if (fuse.burnt) return { theirs: stream.id ?? 0, threw, before, after: tableOf(remote), sent, told };
    sent.push(...told);
  }
  throw new Error('expected the codec to break');
}

/** The highest id that the peer has opened, and the number of its opens. */
function opensOf(sent: readonly Envelope[]): { readonly highest: number; readonly count: number } {
  const ids = new Set(sent.filter(({ type }) => type === 'open').map(({ stream }) => Number(stream)));
  return { highest: Math.max(2, ...ids), count: ids.size };
}

describe.each(CALLS)('codecs that throw in $name', (each) => {
  describe.each(fusedCodecs(['encodePayload']))('%s, payload encoders', (_codec, codec, fuse) => {
    it.each(NTH)(
      'A payload encoder that throws at its call %i spends no id, leaves no stream half open and ends no other stream',
      async (nth) => {
        const remote = new HostilePeer(codec, 'acceptor');
        await time.advance();
        fuse.set(nth);
        const { theirs, before, after, sent, told } = await callUntilBroken(remote, each, fuse);
        fuse.set();
        expect(after).toEqual(each.resets === true ? without(before, theirs) : before);
        // Slices of the resets before are bulk, and still leave.
        expect(told.filter(({ fragment }) => fragment === undefined)).toEqual(
          each.resets === true ? [{ type: 'reset', stream: theirs, code: 300, reason: 'why' }] : [],
        );
        const { highest, count } = opensOf(sent);
        expect(highest).toBe(2 + 2 * count);
        await goesOn(remote, highest + 2);
      },
    );
  });

  describe.each(fusedCodecs(WRITING))('%s, frame encoders', (_codec, codec, fuse) => {
    it.each(NTH)(
      'A frame encoder that throws at its call %i ends only its stream, or fails a call that measures its frame',
      async (nth) => {
        const remote = new HostilePeer(codec, 'acceptor');
        await time.advance();
        fuse.set(nth);
        const { theirs, threw, before, after, told } = await callUntilBroken(remote, each, fuse);
        fuse.set();
        expect(threw && each.measured !== true).toBe(false);
        const isEnded = each.on === 'theirs' && !threw;
        expect(after).toEqual(isEnded ? without(before, theirs) : before);
        const isKnown = isEnded || told.some(({ type }) => type === 'open');
        expect(told.filter(({ type, more }) => type === 'reset' && more !== true)).toHaveLength(isKnown ? 1 : 0);
        await goesOn(remote, null);
      },
    );
  });
});

/** Enough for the slices of any payload here. */
const MOST_ANSWERS = 20;

/** Checks that a request works, under `id` if it is known, that the innocent streams live, and that nothing is left in the end. */
async function goesOn(remote: HostilePeer, id: number | null): Promise<void> {
  const answer = settled(remote.peer.request(GOOD));
  await time.advance();
  const [open] = remote.news();
  expect(open).toEqual({ type: 'open', stream: id ?? expect.any(Number), end: true, payload: GOOD });
  remote.send({ type: 'data', stream: open?.['stream'], end: true, payload: GOOD });
  remote.send({ type: 'data', stream: 1, payload: 'still' }, { type: 'data', stream: 2, payload: 'still' });
  await time.advance();
  expect(await answer).toEqual({ value: GOOD });
  expect(remote.innocents.map(({ values, ends }) => [values, ends])).toEqual([
    [['still'], []],
    [['still'], []],
  ]);
  void remote.peer.close();
  await time.advance();
  // The rest of a payload in fragments is bulk, which waits for answers.
  for (let n = 0; n < MOST_ANSWERS && remote.socket.closes.length === 0; n++) {
    remote.answerPing();
    await time.advance();
  }
  expect(remote.socket.closes).toEqual([[1000, '']]);
  remote.endSocket();
  await time.advance();
  expect([...remote.calls, ...remote.opened].filter(({ ends }) => ends.length !== 1)).toEqual([]);
  expect([remote.kept, time.isOver()]).toEqual([{}, true]);
}
