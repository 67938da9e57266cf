import { describe, it } from '@jest/globals';
import {
  asyncScheduler,
  auditTime,
  bufferTime,
  catchError,
  debounceTime,
  delay,
  dematerialize,
  EMPTY,
  map,
  materialize,
  observeOn,
  repeat,
  retry,
  take,
  takeUntil,
  timeout,
  timer,
} from 'rxjs';
import { composed } from './support/composed.js';
import type { Composition } from './support/composed.js';
import { collectLogs } from '../spec/support/peer/logs.js';

describe('a composed call', () => {
  collectLogs();

  it.each<Composition>([
    {
      composed: 'repeat is opened again at each end',
      of: (call) => call('a').pipe(repeat(2)),
      answers: { a: '----x-|' },
      subs: { a: ['   ^-----!', '   ------^-----!'] },
      expected: ' ----x-----x-|',
      onWire: '   o---D-(Eo)D-E',
    },
    {
      composed: 'repeat with a delay stays closed for the delay',
      of: (call) => call('a').pipe(repeat({ count: 2, delay: 3 })),
      answers: { a: '-x|' },
      subs: { a: ['   ^-!', '   -----^-!'] },
      expected: ' -x----x|',
      onWire: '   oDE--oDE',
    },
    {
      composed: 'retry is opened again after a failure',
      of: (call) =>
        call('a').pipe(
          retry({ count: 1, delay: 2 }),
          catchError(() => EMPTY),
        ),
      answers: { a: '-x-#' },
      subs: { a: ['   ^--!', '   -----^--!'] },
      expected: ' -x----x-|',
      onWire: '   oD-F-oD-F',
    },
    {
      composed: 'catchError that returns the call is opened again',
      of: (call) =>
        call('a').pipe(
          catchError((_, caught) => caught),
          take(2),
        ),
      answers: { a: '-----x#' },
      subs: { a: ['   ^-----!', '   ------^----!'] },
      expected: ' -----x-----(x|)',
      onWire: '   o----D(Fo)-(Dr)',
    },
    {
      composed: 'timeout is cancelled when no value comes in time',
      of: (call) =>
        call('a').pipe(
          timeout({ each: 3 }),
          catchError(() => EMPTY),
        ),
      answers: { a: '-x-------y' },
      subs: { a: '   ^---!' },
      expected: ' -x--|',
      onWire: '   oD--r',
    },
    {
      composed: 'takeUntil is cancelled by its notifier',
      of: (call) => call('a').pipe(takeUntil(timer(4))),
      answers: { a: '-x-y-z' },
      subs: { a: '   ^---!' },
      expected: ' -x-y|',
      onWire: '   oD-Dr',
    },
    {
      composed: 'take is cancelled with its last value',
      of: (call) => call('a').pipe(take(2)),
      answers: { a: '-x-y-z' },
      subs: { a: '   ^--!' },
      expected: ' -x-(y|)',
      onWire: '   oD-(Dr)',
    },
    {
      composed: 'delay ends on the wire before it ends here',
      of: (call) => call('a').pipe(delay(3)),
      answers: { a: '-x-y|' },
      subs: { a: '   ^---!' },
      expected: ' ----x-(y|)',
      onWire: '   oD-DE',
    },
    {
      composed: 'observeOn another scheduler is cancelled at once even so',
      of: (call) => call('a').pipe(observeOn(asyncScheduler, 2)),
      answers: { a: '-x-y-z-' },
      subs: { a: '   ^---!' },
      expected: ' ---x',
      onWire: '   oD-Dr',
      unsub: '   ----!',
    },
    {
      composed: 'bufferTime arrives in bundles, the last one with the end',
      of: (call) =>
        call('a').pipe(
          bufferTime(4),
          map((values) => values.join('')),
        ),
      answers: { a: '-x-y-z|' },
      subs: { a: '   ^-----!' },
      expected: ' ----p-(q|)',
      onWire: '   oD-D-DE',
      values: { p: 'xy', q: 'z' },
    },
    {
      composed: 'auditTime arrives thinned, but not on the wire',
      of: (call) => call('a').pipe(auditTime(3)),
      answers: { a: '-xy---z---|' },
      subs: { a: '   ^---------!' },
      expected: ' ----y----z|',
      onWire: '   oDD---D---E',
    },
    {
      composed: 'debounceTime emits its last value with its end',
      of: (call) => call('a').pipe(debounceTime(3)),
      answers: { a: '-xy----z|' },
      subs: { a: '   ^-------!' },
      expected: ' -----y--(z|)',
      onWire: '   oDD----DE',
    },
    {
      composed: 'materialize and dematerialize is unchanged',
      of: (call) =>
        call('a').pipe(
          materialize(),
          dematerialize(),
          catchError(() => EMPTY),
        ),
      answers: { a: '-x-#' },
      subs: { a: '   ^--!' },
      expected: ' -x-|',
      onWire: '   oD-F',
    },
  ])('A call in $composed', composed);
});
