import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { inspect } from 'node:util';
import { ResetCode } from '../../../src/index.js';
import type { Codec } from '../../../src/index.js';
import { logger } from '../../../src/logger.js';
import type { Message } from '../../../src/wire/codec.js';
import { GOOD, HostilePeer, INNOCENT, SECRET, TOP } from './peer.js';
import type { HostileOptions, Reading, Role } from './peer.js';
import { CODECS } from '../codec/shipped.js';
import type { Envelope } from '../peer/frames.js';
import { settled } from '../peer/outcome.js';
import { virtualPeerTime } from '../peer/time.js';
import type { PeerTime } from '../peer/time.js';

/** A raw message, an envelope, a number of ms that pass, or any other action. */
export type Step = Message | Envelope | number | ((remote: HostilePeer) => void | Promise<void>);

/** How the peer ended the connection: the code of its goaway, if it must send one, and the close code of the socket. */
export interface Death {
  readonly goaway: ResetCode | null;
  readonly close: number;
  /** Stands in the goaway's reason. */
  readonly because?: string;
}

/** One attack and its expected outcome. {@link HostilePeer} says how ids are written; 3 and 4 are the first free ids. */
export interface HostileCase {
  /** The title of its test: a whole sentence. */
  readonly name: string;
  /** Default both. */
  readonly codec?: 'json' | 'msgpack';
  /** The role of the peer. Default each in turn. */
  readonly role?: Role;
  readonly options?: HostileOptions;
  /** Whether application code fails, so that the peer may log errors. Default `false`. */
  readonly fails?: boolean;
  readonly send: readonly Step[] | ((codec: Codec) => readonly Step[]);
  /** `lost`: a step ends the socket. `leaves`: a step closes the peer, which then accepts no new streams. */
  readonly expect: 'lives' | 'lost' | 'leaves' | Death;
  /** Every reset that the peer sends. Default none. */
  readonly resets?: readonly (readonly [stream: number, code: ResetCode])[];
  /** All other frames that the peer sends. Default none. */
  readonly sends?: readonly Envelope[];
  /** How often its handler is called. Default never. */
  readonly handlerCalls?: number;
  /** The results of each handler call by the end of the attack: the payload, the values, and its end if it has ended. */
  readonly got?: readonly (readonly unknown[])[];
  /** The same for each stream that the peer has opened. */
  readonly gotBack?: readonly (readonly unknown[])[];
  /** Checked after the socket has ended, and every stream with it. */
  readonly inTheEnd?: () => void;
}

/** How a connection ends after the remote broke a rule. */
export const PROTOCOL: Death = { goaway: ResetCode.PROTOCOL_ERROR, close: 1002 };
export const WRONG_KIND: Death = { goaway: ResetCode.PROTOCOL_ERROR, close: 1003 };
export const TOO_MUCH: Death = { goaway: ResetCode.ENHANCE_YOUR_CALM, close: 1008 };
export const TOO_BIG: Death = { goaway: ResetCode.ENHANCE_YOUR_CALM, close: 1009 };

const ROLES: readonly Role[] = ['acceptor', 'dialer'];
const COMBINATIONS = CODECS.flatMap(([name, codec]) => ROLES.map((role) => ({ name, codec, role })));
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** Whether to run each case under every codec and in every role, and not only in one combination. */
const TRIES_ALL = process.env['HOSTILE'] === 'all';

/** Declares one test per case, and under `HOSTILE=all` one per case, codec and role. */
export function describeHostile(title: string, cases: readonly HostileCase[]): void {
  describe(title, () => {
    const time = virtualPeerTime();
    const logged = collectEverythingLogged();
    for (const combination of COMBINATIONS) {
      const { name, codec, role } = combination;
      const fitting = cases.filter((each, nth) => {
        const fits = COMBINATIONS.filter((other) => (each.codec ?? other.name) === other.name && (each.role ?? other.role) === other.role);
        return TRIES_ALL ? fits.includes(combination) : fits[nth % fits.length] === combination;
      });
      if (fitting.length === 0) continue;
      describe(`${name} with the peer as ${role}`, () => {
        it.each(fitting.map((each) => [each.name, each] as const))('%s', async (_name, each) => {
          await attack(new HostilePeer(codec, role, each.options), each, time);
          const wrong = logged.filter(
            ({ level, text }) =>
              (level === 'error' && each.fails !== true && !ofHandler(text)) ||
              (text.includes(SECRET) && !(level === 'debug' && ofReason(text))),
          );
          expect(wrong).toEqual([]);
        });
      });
    }
  });
}

/** Whether a line reports the error of a handler, which many cases plant. */
const ofHandler = (text: string): boolean => /rxmux: peer \d+.*: a handler failed/.test(text);

/** Whether a line shows the reason of a reset or a goaway, quoted. */
const ofReason = (text: string): boolean => /connection \d+ [rt]x (?:reset|goaway) /.test(text);

async function attack(remote: HostilePeer, each: HostileCase, time: PeerTime): Promise<void> {
  await time.advance();
  expect(brief(remote.news())).toEqual([]);
  await play(remote, typeof each.send === 'function' ? each.send(remote.codec) : each.send, time);
  const news = remote.news();
  const sent = brief(news);
  const { calls, opened } = remote;
  const dies = typeof each.expect === 'object' ? each.expect : null;
  if (dies !== null && dies.goaway !== null) {
    expect(sent.pop()).toMatchObject({ type: 'goaway', code: dies.goaway });
    expect(news.at(-1)?.['reason']).toEqual(expect.stringContaining(dies.because ?? ''));
  }
  expect(news.filter(({ reason }) => typeof reason === 'string' && reason.includes(SECRET))).toEqual([]);
  expect(sent.filter(({ type }) => type === 'reset').map(({ stream, code }) => [stream, code])).toEqual(each.resets ?? []);
  expect(sent.filter(({ type }) => type !== 'reset')).toEqual(each.sends ?? []);
  if (each.got !== undefined) expect(calls.map(trail)).toEqual(each.got);
  else expect(calls).toHaveLength(each.handlerCalls ?? 0);
  if (each.gotBack !== undefined) expect(opened.map(trail)).toEqual(each.gotBack);
  if (dies !== null) await checkDeath(remote, dies, time);
  else if (each.expect !== 'lost') await checkLife(remote, each.expect === 'leaves', time);
  checkEnds(remote, dies === null && each.expect !== 'lost');
  expect([remote.peer.status.state, remote.kept, time.isOver()]).toEqual(['closed', {}, true]);
  each.inTheEnd?.();
}

async function play(remote: HostilePeer, steps: readonly Step[], time: PeerTime): Promise<void> {
  for (const step of steps) {
    if (typeof step === 'number') await time.advance(step);
    else if (typeof step === 'function') await step(remote);
    else remote.send(step);
  }
  await time.advance();
}

/** Checks that the connection lives: innocent streams deliver, both sides answer requests, and the connection closes in good order. */
async function checkLife(remote: HostilePeer, leaves: boolean, time: PeerTime): Promise<void> {
  const [theirs, mine] = innocents(remote);
  remote.send({ type: 'data', stream: 1, payload: 'still' }, { type: 'data', stream: 2, payload: 'still' });
  await time.advance();
  void mine.stream.send('still');
  await time.advance();
  expect([theirs.values, mine.values].map((values) => values.at(-1))).toEqual(['still', 'still']);
  expect(remote.news()).toEqual([1, 2].map((stream) => ({ type: 'data', stream, payload: 'still' })));
  await checkAnswers(remote, leaves, time);
  if (remote.session.acceptsStreams) await checkAsks(remote, time);
  for (const stream of [1, 2]) remote.send({ type: 'data', stream, end: true });
  void remote.peer.close();
  await time.advance();
  if (remote.socket.closes.length === 0) {
    remote.answerPing();
    await time.advance();
  }
  expect(remote.news().filter(({ type }) => type === 'goaway')).toHaveLength(leaves ? 0 : 1);
  expect(remote.socket.closes).toEqual([[1000, '']]);
  remote.endSocket();
  await time.advance();
}

/** The peer answers a good request of the remote. It answers a ping where no id is left, or where it accepts no new streams. */
async function checkAnswers(remote: HostilePeer, leaves: boolean, time: PeerTime): Promise<void> {
  const id = remote.highest + 2;
  if (id > TOP || leaves) remote.send({ type: 'ping', nonce: GOOD });
  else remote.send({ type: 'open', stream: id, end: true, payload: GOOD });
  await time.advance();
  const answer = id > TOP || leaves ? { type: 'pong', nonce: GOOD } : { type: 'data', stream: id, end: true, payload: GOOD };
  expect(remote.news()).toEqual([answer]);
}

/** A request of the peer's gets its answer. */
async function checkAsks(remote: HostilePeer, time: PeerTime): Promise<void> {
  const answer = settled(remote.peer.request(GOOD));
  await time.advance();
  const [open] = remote.news();
  remote.send({ type: 'data', stream: open?.['stream'], end: true, payload: GOOD });
  expect(await answer).toEqual({ value: GOOD });
}

/** The peer has closed the connection with the expected code, and ignores all later messages. */
async function checkDeath(remote: HostilePeer, { close }: Death, time: PeerTime): Promise<void> {
  expect(remote.socket.closes.map(([code]) => code)).toEqual([close]);
  const calls = remote.calls.length;
  remote.send({ type: 'open', stream: remote.highest + 2, payload: 'too late' }, { type: 'data', stream: 1, payload: 'too late' });
  await time.advance();
  expect([remote.calls.length, remote.news(), innocents(remote)[0].values]).toEqual([calls, [], []]);
  remote.endSocket();
  await time.advance();
}

/** Each stream ended once. The innocent streams failed if the connection died, and otherwise completed. */
function checkEnds(remote: HostilePeer, lived: boolean): void {
  for (const { ends, stream, isRead } of [...remote.calls, ...remote.opened])
    expect([ends.length, stream.cause]).toEqual([isRead ? 1 : 0, expect.anything()]);
  for (const { ends } of innocents(remote)) expect(ends).toEqual([lived ? 'end' : 'CONNECTION_LOST']);
}

function innocents({ innocents: [one, other] }: HostilePeer): readonly [theirs: Reading, mine: Reading] {
  if (one === undefined || other === undefined) throw new Error(`expected two streams called '${INNOCENT}'`);
  return one.stream.local ? [other, one] : [one, other];
}

const trail = ({ payload, values, ends, stream }: Reading): readonly unknown[] => [...(stream.local ? [] : [payload]), ...values, ...ends];

/** Leaves out the texts, which are for people. */
const brief = (frames: readonly Envelope[]): Envelope[] =>
  frames.map((frame) => Object.fromEntries(Object.entries(frame).filter(([key]) => key !== 'reason')));

/** Collects each log line as the console would show it, anew for each test. */
function collectEverythingLogged(): readonly { readonly level: string; readonly text: string }[] {
  const texts: { level: string; text: string }[] = [];
  const { level } = logger;
  beforeEach(() => {
    texts.length = 0;
    logger.level = 'debug';
    for (const each of LEVELS)
      jest.spyOn(logger, each).mockImplementation((...args) => {
        texts.push({ level: each, text: spell(args) });
      });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    logger.level = level;
  });
  return texts;
}

/** Formats log arguments. An error thrown by user code may resist formatting. */
function spell(args: readonly unknown[]): string {
  try {
    return inspect(args, { depth: 10 });
  } catch {
    return String(args[0]);
  }
}
