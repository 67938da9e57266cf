import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { config } from 'rxjs';
import { logger } from '../../../src/logger.js';
import { counting, NOTHING } from '../../support/peer/counting.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { LONGEST_WATCH_MS } from '../../leaks/scene.js';
import { ACTIONS } from './actions.js';
import type { Action } from './actions.js';
import type { PeerStatus } from '../../../src/index.js';
import type { Callback } from './callbacks/callback.js';
import { Scene } from './scene.js';
import type { Role, Run } from './scene.js';

const ROLES: readonly Role[] = ['dialer', 'acceptor'];

/** The outcome of one cell. `goesOn` is `null` when the callback ran only at the end. */
type Outcome = Readonly<Record<keyof typeof CLEAN, unknown>>;

interface Cell {
  readonly action: Action;
  readonly does: string;
  readonly role: Role;
}

/** The cells of a row: all, in both roles; or one in `THIN`, so that later rows take the other cells. */
function cellsOf({ role: only }: Callback, row: number, isWhole: boolean): readonly Cell[] {
  const cells = ACTIONS.flatMap((action) => ROLES.map((role): Cell => ({ action, does: action.does, role })));
  const able = cells.filter(({ role }) => only === undefined || role === only);
  if (isWhole) return able;
  return able.filter((_, at) => at % THIN === row % THIN);
}

/** The distance between tried cells when not all are tried. An odd number, so that the roles alternate. */
const THIN = 13;

const STATES: readonly PeerStatus['state'][] = ['connecting', 'waiting', 'open', 'draining', 'closed'];

/** The facts that hold for every cell. */
const CLEAN = {
  ran: true,
  goesOn: true,
  /** Streams that have ended on one side only, while the connection lives. */
  disagreements: [],
  /** The answers to a request of each side, and the last value of the bystander, while the connection lives. */
  answers: ['echo', 'echo', 'news'],
  /** The things held while the connection lives, after the end of all streams. */
  heldMeanwhile: { streams: 0, timers: 0, waiting: 0 },
  /** Statuses of the near peer that came after a later one of its life. */
  statusesBack: [],
  brokenRules: [],
  ignored: [],
  states: ['closed', 'closed'],
  unsettled: [],
  /** The number of reported errors that no call stands for. */
  told: { log: 0, rxjs: 0 },
  isOver: true,
  held: NOTHING,
};

/**
 * The table: every action within every one of these callbacks, or a part of its cells unless `isWhole`.
 * An unhandled rejection, or an error in a timer, fails a test by itself.
 */
export function describeTable(callbacks: readonly Callback[], isWhole = false): void {
  const time = virtualPeerTime();
  const counts = counting(time);
  const logs = collectLogs();
  let unhandled: unknown[] = [];
  let ignored: string[] = [];
  beforeEach(() => {
    unhandled = [];
    ignored = [];
    config.onUnhandledError = (error: unknown) => unhandled.push(error);
    jest.spyOn(logger, 'debug').mockImplementation((line) => {
      // An open may cross a goaway. No other frame of an honest side is ignored.
      if (line.includes('ignored') && !line.includes('an open of stream')) ignored.push(line);
    });
  });
  afterEach(() => {
    config.onUnhandledError = null;
  });

  async function play(callback: Callback, role: Role, { act, times = 1 }: Action): Promise<Outcome> {
    let left = 0;
    let scene: Scene | null = null;
    const run: Run = (told = {}) => {
      if (left === 0 || scene === null) return;
      left--;
      act(scene, told);
    };
    const made = (scene = new Scene(role, callback.options?.(run, role) ?? {}));
    counts.watch(made.abort.signal);
    await time.advance();
    left = times;
    callback.hang(made, run);
    made.watchStatus();
    made.traffic();
    await time.advance();
    made.finish();
    await time.advance(LONGEST_WATCH_MS);
    // Some callbacks run only at the end.
    const isOpen = made.states.every((state) => state === 'open');
    const survives = left < times && isOpen;
    const disagreements = survives ? made.disagreements : CLEAN.disagreements;
    const answers = survives ? await answersOf(made) : CLEAN.answers;
    const heldMeanwhile = survives ? await heldBy(made) : CLEAN.heldMeanwhile;
    const goesOn = left < times ? isOpen : null;
    for (const peer of [made.near, made.far]) void peer.close();
    await time.advance(LONGEST_WATCH_MS);
    made.leave();
    return {
      ran: left < times,
      goesOn,
      heldMeanwhile,
      statusesBack: made.statuses.filter((state, at, all) => STATES.indexOf(state) < STATES.indexOf(all[at - 1] ?? state)),
      disagreements: disagreements,
      answers,
      brokenRules: made.rules.broken,
      ignored: ignored,
      states: [...made.states],
      unsettled: made.unsettled,
      // A handler of the scene fails on purpose.
      told: { log: logs.errors.filter((line) => !line.endsWith(': a handler failed')).length, rxjs: unhandled.length },
      isOver: time.isOver(),
      held: counts.held(),
    };
  }

  async function heldBy(scene: Scene): Promise<typeof CLEAN.heldMeanwhile> {
    scene.finishBystander();
    await time.advance(LONGEST_WATCH_MS);
    const { streams, timers, waiting } = counts.held();
    return { streams, timers, waiting };
  }

  /** The answers to new requests, which have nothing to do with the action. */
  async function answersOf(scene: Scene): Promise<string[]> {
    scene.tell('news');
    const answers = [scene.near.request('echo'), scene.far.request('echo')];
    await time.advance();
    return [...(await Promise.all(answers)), ...scene.news].map(String);
  }

  describe.each(callbacks.map((callback, row) => ({ callback, row, where: callback.where })))('in $where', ({ callback, row }) => {
    it.each(cellsOf(callback, row, isWhole))(
      'The $role $does in a callback: nothing is left undone, and no bystander is harmed',
      async ({ action, role }) => {
        const { throws } = callback;
        const told = action.throws === true && throws !== undefined ? { ...CLEAN.told, [throws]: 1 } : CLEAN.told;
        const outcome = await play(callback, role, action);
        const isFatal = action.ends === true || (action.throws === true && callback.fatal === true);
        expect(outcome).toEqual({ ...CLEAN, told, goesOn: outcome.goesOn === null ? null : !isFatal });
      },
    );
  });
}
