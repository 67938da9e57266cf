import { EMPTY } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { marbles } from './virtual.js';
import { wire } from './wire.js';

/** A composition of rxjs operators over calls of one peer. */
export interface Composition {
  readonly composed: string;
  /** The Observable to subscribe. `call` opens a stream with that payload; `source$` follows its row. */
  readonly of: (call: (payload: string) => Observable<string>, source$: Observable<string>) => Observable<unknown>;
  readonly source?: string;
  /** The server's answer to each payload, and the subscriptions to it. */
  readonly answers: Readonly<Record<string, string>>;
  readonly subs: Readonly<Record<string, string | string[]>>;
  readonly expected: string;
  readonly onWire: string;
  readonly unsub?: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Compares the composition's values, the subscriptions on the server, and the frames on the wire. */
export const composed = marbles<[Composition]>(({ cold, hot, expectObservable, expectSubscriptions }, row) => {
  const { dialer, acceptor, link } = createPair();
  const answers = new Map(Object.entries(row.answers).map(([payload, answer]) => [payload, cold(answer)]));
  acceptor.streams$.pipe(respond((payload) => answers.get(String(payload)) ?? EMPTY)).subscribe();
  expectObservable(wire(link)).toBe(row.onWire);
  const composed$ = row.of((payload) => dialer.open$<string>(payload), hot(row.source ?? ''));
  expectObservable(composed$, row.unsub).toBe(row.expected, row.values, 'late');
  for (const [payload, answer$] of answers) expectSubscriptions(answer$.subscriptions).toBe(row.subs[payload] ?? []);
});
