import { describe, expect, it } from '@jest/globals';
import { map, mergeMap, of, Subject, take, tap } from 'rxjs';
import type { MonoTypeOperatorFunction, OperatorFunction } from 'rxjs';
import {
  assemble,
  decode,
  demultiplex,
  encode,
  fragment,
  JsonCodec,
  ofDirection,
  ofStream,
  ofType,
  retryWhenSafe,
  withCredit,
} from '../../src/index.js';
import type { Frame, FrameDirection } from '../../src/index.js';
import { counting } from '../support/peer/counting.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { surplus } from './scene.js';

const time = virtualPeerTime();
const { held } = counting(time);

const codec = new JsonCodec();
const frame: Frame = { type: 'data', stream: 1, payload: 'x'.repeat(100) };
const event = { direction: 'rx' as FrameDirection, frame };

/** An operator over a hot source, and a value that makes it emit. */
interface Over {
  readonly what: string;
  readonly value: never;
  readonly operator: OperatorFunction<never, unknown>;
}

const over = <T>(what: string, value: T, operator: OperatorFunction<T, unknown>): Over => ({ what, value: value as never, operator });

const OPERATORS: readonly Over[] = [
  over('decode', '{"type":"ping"}', decode(codec)),
  over('encode', frame, encode(codec)),
  over('fragment', frame, fragment(codec, 60)),
  over('assemble', frame, assemble(codec)),
  over<Frame>('assemble, with a fragment outstanding', { type: 'data', stream: 1, fragment: '"a', more: true }, (frame$) =>
    frame$.pipe(
      mergeMap((part) => of(part, { type: 'data', stream: 3, payload: 1 })),
      assemble(codec),
    ),
  ),
  over('demultiplex', frame, demultiplex()),
  over<Frame>('demultiplex whose groups are read', frame, (frame$) =>
    frame$.pipe(
      demultiplex(),
      mergeMap((group) => group),
    ),
  ),
  over('demultiplex to sinks', frame, demultiplex<Frame>(new Map())),
  over('ofType', event, ofType('data')),
  over('ofStream', event, ofStream(1)),
  over('ofDirection', event, ofDirection('rx')),
  over('retryWhenSafe', frame, retryWhenSafe()),
  over<Frame>('withCredit', frame, withCredit(2).spend(of(4))),
];

interface Ending {
  readonly how: string;
  readonly piped?: MonoTypeOperatorFunction<unknown>;
  readonly end: (source$: Subject<never>, value: never, unsubscribe: () => void) => void;
}

const ENDINGS: readonly Ending[] = [
  { how: 'completes', end: (source$) => source$.complete() },
  {
    how: 'completes after a value',
    end(source$, value) {
      source$.next(value);
      source$.complete();
    },
  },
  { how: 'errors', end: (source$) => source$.error(new Error('the source')) },
  {
    how: 'is unsubscribed',
    end(source$, value, unsubscribe) {
      source$.next(value);
      unsubscribe();
    },
  },
  { how: 'is enough after one value', piped: take(1), end: (source$, value) => source$.next(value) },
  {
    how: 'meets a callback that throws',
    piped: tap(() => {
      throw new Error('a callback');
    }),
    end: (source$, value) => source$.next(value),
  },
];

describe.each(OPERATORS)('$what', ({ what, value, operator }) => {
  it.each(ENDINGS)(`The operator ${what} holds nothing when it $how`, async ({ piped = map((passed) => passed), end }) => {
    const before = held();
    const source$ = new Subject<never>();
    const subscription = source$.pipe(operator, piped).subscribe({ error: () => undefined });
    expect(surplus(before, held())).toHaveProperty('subscriptions');
    end(source$, value, () => subscription.unsubscribe());
    await time.advance();
    expect([surplus(before, held()), source$.observed]).toEqual([{}, false]);
  });
});

describe('an operator that fails on its input', () => {
  it.each<[string, unknown, OperatorFunction<never, unknown>]>([
    ['decode', 'no frame', decode(codec)],
    ['encode', { type: 'data', payload: 1n }, encode(codec)],
    ['fragment', { type: 'data', stream: 1, headers: { long: 'x'.repeat(100) }, payload: 'a' }, fragment(codec, 60)],
    ['demultiplex to a sink that throws', frame, demultiplex(new Map([[1, { next: () => JSON.parse('{') as void }]]))],
  ])('An operator that fails on its input holds nothing: %s', (_name, value, operator) => {
    const before = held();
    const source$ = new Subject<never>();
    let failed = 0;
    source$.pipe(operator).subscribe({ error: () => failed++ });
    source$.next(value as never);
    expect([failed, surplus(before, held()), source$.observed]).toEqual([1, {}, false]);
  });
});
