import { computed, DestroyRef, inject, NgZone, signal } from '@angular/core';
import type { Signal } from '@angular/core';
import type { Procedure } from '../contract/procedure.js';
import { CallStore } from '../store/call-store.js';
import type { CallActions, CallState, UseCallOptions } from '../store/call-store.js';
import type { Source } from '../stream/input.js';

/** Calls as a component makes and shows them: the members of a {@link CallState} as signals. */
export type InjectedCall<Args extends readonly unknown[], T, X extends Procedure = Procedure> = CallActions<Args, T> & {
  readonly [Name in keyof CallState<T, X>]: Signal<CallState<T, X>[Name]>;
};

/**
 * Makes calls from event handlers, and shows the latest one as signals: whether it is pending, its data and its error. An earlier call
 * goes on and its promise settles, but its outcome is not shown. Call it where `inject` works.
 *
 * A call goes on when its component is destroyed, unless `abortOnLeave` is set. It runs outside of zone.js, and never keeps an application
 * from being stable.
 *
 * @param open returns an Observable or a promise: a call of a contract, or a function of yours
 * @throws TypeError for an unknown option
 *
 * @example
 * ```ts
 * export class Seat {
 *   readonly book = injectCall(client(injectPeer(), api).book, { errors: api.book });
 *   readonly takenBy = computed(() => {
 *     const failure = this.book.failure();
 *     return failure?.name === 'TAKEN' ? failure.data.by : null;
 *   });
 * }
 * // <button [disabled]="book.pending()" (click)="book.call({ seat: '12A' })">{{ book.data() ?? 'book' }}</button>
 * ```
 */
export function injectCall<Args extends readonly unknown[], T, X extends Procedure = Procedure>(
  open: (...args: Args) => Source<T>,
  options: UseCallOptions<T, X> = {},
): InjectedCall<Args, T, X> {
  const store = new CallStore<T, X>(options);
  const zone = inject(NgZone);
  const state = signal(store.state());
  const close = store.subscribe(() => {
    state.set(store.state());
  });
  // A shared call outlives its last reader for a moment, by a timer.
  const abort = (): void => zone.runOutsideAngular(store.abort);
  inject(DestroyRef).onDestroy(() => {
    close();
    if (options.abortOnLeave === true) abort();
  });
  return {
    call: (...args) => zone.runOutsideAngular(() => store.make(open, args)),
    abort,
    pending: computed(() => state().pending),
    data: computed(() => state().data),
    error: computed(() => state().error),
    failure: computed(() => state().failure),
  };
}
