import { describe, it } from '@jest/globals';
import {
  catchError,
  combineLatest,
  concatMap,
  concatWith,
  EMPTY,
  exhaustMap,
  expand,
  forkJoin,
  map,
  mergeMap,
  race,
  share,
  shareReplay,
  switchMap,
  switchScan,
  take,
  withLatestFrom,
  zip,
} from 'rxjs';
import { composed } from './support/composed.js';
import type { Composition } from './support/composed.js';
import { collectLogs } from '../spec/support/peer/logs.js';

describe('several composed calls', () => {
  collectLogs();

  it.each<Composition>([
    {
      composed: 'switchMap is cancelled by the next call',
      of: (call, source$) => source$.pipe(switchMap(call)),
      source: '   a----b-----|',
      answers: { a: '--x----y|', b: '----z|' },
      subs: { a: '   ^----!', b: '   -----^----!' },
      expected: ' --x------z-|',
      onWire: '   o-D--(ro)DE',
    },
    {
      composed: 'exhaustMap drops calls that come before its end',
      of: (call, source$) => source$.pipe(exhaustMap(call)),
      source: '   a-b----c|',
      answers: { a: '--x--|', b: 'z|', c: '-y|' },
      subs: { a: '   ^----!', c: '   -------^-!' },
      expected: ' --x-----y|',
      onWire: '   o-D--E-oDE',
    },
    {
      composed: 'concatMap waits for the end of the call before',
      of: (call, source$) => source$.pipe(concatMap(call)),
      source: '   (ab|)',
      answers: { a: '--x--|', b: '----y|' },
      subs: { a: '   ^----!', b: '   -----^----!' },
      expected: ' --x------y|',
      onWire: '   o-D--(Eo)DE',
    },
    {
      composed: 'mergeMap runs beside as many others as the limit allows',
      of: (call, source$) => source$.pipe(mergeMap(call, 2)),
      source: '   a-b-c|',
      answers: { a: '----x--|', b: '-y---------|', c: '----z|' },
      subs: { a: '   ^------!', b: '   --^----------!', c: '   -------^----!' },
      expected: ' ---yx------z-|',
      onWire: '   o-oDD--(Eo)DEE',
    },
    {
      composed: 'race is cancelled once it loses',
      of: (call) => race(call('a'), call('b')),
      answers: { a: '----x---y|', b: '-----z---|' },
      subs: { a: '   ^--------!', b: '   ^---!' },
      expected: ' ----x---y|',
      onWire: '   (oo)(Dr)DE',
    },
    {
      composed: 'forkJoin waits for both',
      of: (call) => forkJoin([call('a'), call('b')]),
      answers: { a: '-----x--y|', b: '------z|' },
      subs: { a: '   ^--------!', b: '   ^------!' },
      expected: ' ---------(v|)',
      onWire: '   (oo)-DDEDE',
      values: { v: ['y', 'z'] },
    },
    {
      composed: 'forkJoin is cancelled when the other call fails',
      of: (call) => forkJoin([call('a'), call('b')]).pipe(catchError(() => EMPTY)),
      answers: { a: '------x|', b: '----#' },
      subs: { a: '   ^---!', b: '   ^---!' },
      expected: ' ----|',
      onWire: '   (oo)(Fr)',
    },
    {
      composed: 'combineLatest is cancelled together with the other call',
      of: (call) => combineLatest([call('a'), call('b')]).pipe(map((both) => both.join(''))),
      answers: { a: '----x-y---', b: '-----z----' },
      subs: { a: '   ^-------!', b: '   ^-------!' },
      expected: ' -----pq-',
      onWire: '   (oo)DDD-(rr)',
      unsub: '   --------!',
      values: { p: 'xz', q: 'yz' },
    },
    {
      composed: 'zip is cancelled when the other call has no more values',
      of: (call) => zip([call('a'), call('b')]).pipe(map((both) => both.join(''))),
      answers: { a: '----x--y--', b: '-----z|' },
      subs: { a: '   ^-----!', b: '   ^-----!' },
      expected: ' -----p|',
      onWire: '   (oo)DD(Er)',
      values: { p: 'xz' },
    },
    {
      composed: 'withLatestFrom runs beside its source, and is cancelled with it',
      of: (call, source$) =>
        source$.pipe(
          withLatestFrom(call('a')),
          map((both) => both.join('')),
        ),
      source: '   -s--s-|',
      answers: { a: '--x----' },
      subs: { a: '   ^-----!' },
      expected: ' ----p-|',
      onWire: '   o-D---r',
      values: { p: 'sx' },
    },
    {
      composed: 'concatWith is opened at the end of the call before',
      of: (call) => call('a').pipe(concatWith(call('b'))),
      answers: { a: '--x|', b: '----y|' },
      subs: { a: '   ^--!', b: '   ---^----!' },
      expected: ' --x----y|',
      onWire: '   o-D(Eo)DE',
    },
    {
      composed: 'expand fetches page after page',
      of: (call) => call('1').pipe(expand((page) => (page === '3' ? EMPTY : call(page)))),
      answers: { 1: '-2---|', 2: '-----3|' },
      subs: { 1: '   ^----!', 2: '   -^-----!' },
      expected: ' -2----3|',
      onWire: '   o(Do)EDE',
    },
    {
      composed: 'switchScan is cancelled by the next call',
      of: (call, source$) => source$.pipe(switchScan((before, term) => call(term).pipe(map((value) => before + value)), '')),
      source: '   a-----b-----|',
      answers: { a: '--x-----', b: '----z|' },
      subs: { a: '   ^-----!', b: '   ------^----!' },
      expected: ' --p-------q-|',
      onWire: '   o-D---(ro)DE',
      values: { p: 'x', q: 'xz' },
    },
    {
      composed: 'share is one stream for all subscribers, and is cancelled when the last of them leaves',
      of(call, source$) {
        const shared$ = call('a').pipe(share());
        return source$.pipe(
          mergeMap((nth) =>
            shared$.pipe(
              map((value) => nth + value),
              take(2),
            ),
          ),
        );
      },
      source: '   1--2----|',
      answers: { a: '-x---y---z---' },
      subs: { a: '   ^--------!' },
      expected: ' -p---(qr)(s|)',
      onWire: '   oD---D---(Dr)',
      values: { p: '1x', q: '1y', r: '2y', s: '2z' },
    },
    {
      composed: 'shareReplay with refCount keeps its last value for late subscribers',
      of(call, source$) {
        const shared$ = call('a').pipe(shareReplay({ bufferSize: 1, refCount: true }));
        return source$.pipe(mergeMap((nth) => shared$.pipe(map((value) => nth + value))));
      },
      source: '   1----2',
      answers: { a: '-x-y-----' },
      subs: { a: '   ^------!' },
      expected: ' -p-q-r-',
      onWire: '   oD-D---r',
      unsub: '   -------!',
      values: { p: '1x', q: '1y', r: '2y' },
    },
  ])('A call in $composed', composed);
});
