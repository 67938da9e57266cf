import { EMPTY } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { marbles } from './virtual.js';
import { wire } from './wire.js';

/** A composition of rxjs operators over calls of one peer. */
export interface Composition {
  readonly composed: string;
  /** What is subscribed to; `call` opens a stream with that payload, `source$` follows its row. */
  readonly of: (call: (payload: string) => Observable<string>, source$: Observable<string>) => Observable<unknown>;
  readonly source?: string;
  /** What the server answers to each payload, and how it was subscribed. */
  readonly answers: Readonly<Record<string, string>>;
  readonly subs: Readonly<Record<string, string | string[]>>;
  readonly expected: string;
  readonly onWire: string;
  readonly unsub?: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** What is subscribed to, what the server's sources see of it, and what goes over the line. */
export const composed = marbles<[Composition]>(({ cold, hot, expectObservable, expectSubscriptions }, row) => {
  const { dialer, acceptor, link } = createPair();
  const answers = new Map(Object.entries(row.answers).map(([payload, answer]) => [payload, cold(answer)]));
  acceptor.streams$.pipe(respond((payload) => answers.get(String(payload)) ?? EMPTY)).subscribe();
  expectObservable(wire(link)).toBe(row.onWire);
  const composed$ = row.of((payload) => dialer.open$<string>(payload), hot(row.source ?? ''));
  expectObservable(composed$, row.unsub).toBe(row.expected, row.values, 'late');
  for (const [payload, answer$] of answers) expectSubscriptions(answer$.subscriptions).toBe(row.subs[payload] ?? []);
});
