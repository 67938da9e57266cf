import { describe, expect, it } from '@jest/globals';
import { AnswerHold, HOLD_MS, LOOK_MS, MAX_HELD, MEASURED_BYTES } from '../../../src/connection/budget.js';
import { inTime } from '../../support/session/time.js';

const PAUSE_MS = 20_000;
const [SLOW, OTHER] = [{}, {}];

/** A hold, with the nonces of its pongs in order, and `life` for each sign of life. */
function holding(pauseMs = PAUSE_MS) {
  const answers: (string | null)[] = [];
  const hold = new AnswerHold(
    {
      pong: (nonce) => answers.push(nonce),
      signOfLife: () => answers.push('life'),
    },
    pauseMs,
  );
  let received = 0;
  /** The remote pings after so many bytes. */
  const ping = (nonce: string | null, bytes = MEASURED_BYTES): void => {
    hold.pinged(nonce, (received += bytes));
  };
  return { hold, answers, ping };
}

describe('pings beside a lagging stream', () => {
  it(
    'AnswerHold answers each ping at once while no stream lags',
    inTime((time) => {
      const { hold, answers, ping } = holding();
      ping('a');
      hold.read(SLOW, MEASURED_BYTES);
      ping('b');
      expect([answers, hold.heldMs, time.isOver]).toEqual([['a', 'b'], 0, true]);
    }),
  );

  it(
    'AnswerHold holds the pings that measure data while a stream lags, and answers them in order when the stream has caught up',
    inTime((time) => {
      const { hold, answers, ping } = holding();
      hold.lag(SLOW);
      hold.lag(SLOW);
      for (const nonce of ['a', 'b', null]) ping(nonce);
      expect(answers).toEqual([]);
      hold.caughtUp(SLOW);
      expect([answers, time.isOver]).toEqual([['a', 'b', null], true]);
      ping('c');
      expect(answers.at(-1)).toBe('c');
    }),
  );

  it.each([
    ['one byte less than 32 KiB came since the last ping that measured data', 'keepalive', MEASURED_BYTES - 1],
    ['the nonce has more than 64 characters', 'x'.repeat(65), MEASURED_BYTES],
  ])(
    'AnswerHold answers a ping at once while a stream lags: %s',
    inTime<[string, string, number]>((_time, _what, nonce, bytes) => {
      const { hold, answers, ping } = holding();
      hold.lag(SLOW);
      ping('held');
      ping(nonce, bytes);
      expect(answers).toEqual([nonce]);
    }),
  );

  it(
    'AnswerHold counts data across pings that measure none',
    inTime(() => {
      const { hold, answers, ping } = holding();
      hold.lag(SLOW);
      ping('keepalive', MEASURED_BYTES - 1);
      ping('held', 1);
      ping('y'.repeat(64));
      expect(answers).toEqual(['keepalive']);
    }),
  );

  it(
    'AnswerHold answers the pings when the last lagging stream has caught up',
    inTime(() => {
      const { hold, answers, ping } = holding();
      for (const stream of [SLOW, OTHER]) hold.lag(stream);
      ping('a');
      hold.caughtUp(SLOW);
      expect(answers).toEqual([]);
      hold.caughtUp(OTHER);
      expect(answers).toEqual(['a']);
    }),
  );

  it(
    'AnswerHold holds at most 256 pings, and answers the oldest one beyond',
    inTime(() => {
      const { hold, answers, ping } = holding();
      hold.lag(SLOW);
      for (let nth = 0; nth < MAX_HELD; nth++) ping(`${nth}`);
      expect(answers).toEqual([]);
      ping('more');
      expect(answers).toEqual(['0']);
    }),
  );
});

describe('reads of a lagging stream', () => {
  it(
    'AnswerHold answers a ping for as many read bytes as came before that ping',
    inTime(() => {
      const { hold, answers, ping } = holding();
      hold.lag(SLOW);
      ping('a', 2 * MEASURED_BYTES);
      ping('b');
      hold.read(SLOW, 2 * MEASURED_BYTES - 1);
      expect(answers).toEqual([]);
      hold.read(SLOW, 1);
      expect(answers).toEqual(['a']);
      hold.read(SLOW, MEASURED_BYTES);
      expect(answers).toEqual(['a', 'b']);
    }),
  );

  it(
    'AnswerHold counts only the reads of lagging streams, and none while no ping waits',
    inTime(() => {
      const { hold, answers, ping } = holding();
      hold.lag(SLOW);
      hold.read(SLOW, MEASURED_BYTES);
      ping('a');
      hold.read(OTHER, MEASURED_BYTES);
      hold.read(SLOW, MEASURED_BYTES - 1);
      hold.caughtUp(SLOW);
      hold.lag(SLOW);
      ping('b');
      hold.read(SLOW, MEASURED_BYTES - 1);
      expect(answers).toEqual(['a']);
    }),
  );
});

describe('patience', () => {
  it(
    'AnswerHold answers the oldest ping after five seconds, and sends a sign of life each second meanwhile',
    inTime((time) => {
      const { hold, answers, ping } = holding();
      hold.lag(SLOW);
      time.advance(LOOK_MS);
      expect(answers).toEqual([]);
      for (const nonce of ['a', 'b', 'c']) ping(nonce);
      const lives = ['life', 'life', 'life', 'life', 'life'];
      time.advance(HOLD_MS - 1);
      expect(answers).toEqual(lives.slice(1));
      time.advance(1);
      expect(answers).toEqual([...lives, 'a']);
      time.advance(HOLD_MS);
      expect(answers).toEqual([...lives, 'a', ...lives, 'b']);
      hold.read(SLOW, MEASURED_BYTES);
      time.advance(2 * LOOK_MS);
      expect(answers).toEqual([...lives, 'a', ...lives, 'b', 'c']);
    }),
  );

  it(
    'AnswerHold abandons a stream that reads nothing for `pauseMs`, until the stream has caught up',
    inTime((time) => {
      const { hold, answers, ping } = holding(3_000);
      hold.lag(SLOW);
      time.advance(2_000);
      hold.read(SLOW, 1);
      time.advance(2_000);
      ping('a');
      expect(hold.ignores(SLOW)).toBe(false);
      time.advance(1_000);
      expect([answers, hold.ignores(SLOW), time.isOver]).toEqual([['a'], true, true]);
      hold.lag(SLOW);
      ping('b');
      expect(answers).toEqual(['a', 'b']);
      hold.caughtUp(SLOW);
      hold.lag(SLOW);
      ping('c');
      expect([answers, hold.ignores(SLOW)]).toEqual([['a', 'b'], false]);
    }),
  );

  it(
    'AnswerHold goes on for a stream that reads, after it abandoned another one',
    inTime((time) => {
      const { hold, answers, ping } = holding(LOOK_MS);
      for (const stream of [SLOW, OTHER]) hold.lag(stream);
      time.advance(LOOK_MS - 1);
      hold.read(OTHER, 1);
      ping('a');
      time.advance(1);
      expect([hold.ignores(SLOW), hold.ignores(OTHER), answers]).toEqual([true, false, ['life']]);
    }),
  );

  it(
    'AnswerHold abandons no stream by a late timer',
    inTime((time) => {
      const { hold } = holding(LOOK_MS);
      hold.lag(SLOW);
      time.sleep(3_600_000);
      expect(hold.ignores(SLOW)).toBe(false);
      time.advance(LOOK_MS);
      expect(hold.ignores(SLOW)).toBe(true);
    }),
  );

  it(
    '`heldMs` counts the time in which pings wait',
    inTime((time) => {
      const { hold, ping } = holding();
      hold.lag(SLOW);
      time.advance(100);
      ping('a');
      time.advance(20);
      ping('b');
      time.advance(3);
      expect(hold.heldMs).toBe(23);
      hold.resume();
      time.advance(100);
      expect(hold.heldMs).toBe(23);
      hold.lag(SLOW);
      ping('c');
      time.advance(4);
      expect(hold.heldMs).toBe(27);
    }),
  );
});

describe('the end', () => {
  it(
    '`resume` answers every ping, and a later lag holds again',
    inTime((time) => {
      const { hold, answers, ping } = holding();
      hold.lag(SLOW);
      ping('a');
      hold.resume();
      expect([answers, time.isOver]).toEqual([['a'], true]);
      hold.lag(SLOW);
      ping('b');
      expect(answers).toEqual(['a']);
    }),
  );

  it(
    '`stop` answers every ping, now and later',
    inTime((time) => {
      const { hold, answers, ping } = holding();
      hold.lag(SLOW);
      ping('a');
      hold.stop();
      hold.lag(SLOW);
      ping('b');
      expect([answers, time.isOver]).toEqual([['a', 'b'], true]);
    }),
  );
});
