import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import type { Procedure } from '../contract/procedure.js';
import { CallStore } from '../store/call-store.js';
import type { CallState, MakeCall, UseCallOptions } from '../store/call-store.js';

/** Calls as a component makes and shows them. */
export interface UsedCall<Args extends readonly unknown[], T, X extends Procedure = Procedure> extends CallState<T, X> {
  /**
   * Makes a call, and resolves with its last value, or with `null` where it has none. The state shows an error, so the promise's rejection
   * needs no handler. The function stays the same as long as `open` does.
   */
  readonly call: (...args: Args) => Promise<T>;
  /** Ends the calls, also on the server. Keeps the data. The promises reject with a `CancelledError`. */
  readonly abort: () => void;
}

/**
 * Makes calls from event handlers, and renders the latest one: whether it is pending, its data and its error. An earlier call goes on and
 * its promise settles, but its outcome is not shown.
 *
 * A call goes on when its component unmounts, unless `abortOnLeave` is set. For what a component shows while it is mounted,
 * use {@link useStream}.
 *
 * @param open returns an Observable or a promise: a call of a contract, or a function of yours
 * @throws TypeError for an unknown option
 *
 * @example
 * ```tsx
 * function Seat({ seat }: { seat: string }) {
 *   const { call, pending, data, failure, abort } = useCall(calls.book, { errors: api.book });
 *   if (failure?.name === 'TAKEN') return <p>taken by {failure.data.by}</p>;           // the data of this error
 *   if (pending) return <button onClick={abort}>cancel</button>;
 *   return <button onClick={() => call({ seat })}>{data ?? 'book'}</button>;
 * }
 * ```
 */
export function useCall<Args extends readonly unknown[], T, X extends Procedure = Procedure>(
  open: MakeCall<Args, T>,
  options: UseCallOptions<T, X> = {},
): UsedCall<Args, T, X> {
  const [store] = useState(() => new CallStore<T, X>(options));
  const { abortOnLeave = false } = options;
  const state = useSyncExternalStore(store.subscribe, store.state, store.rendered);
  const call = useCallback((...args: Args) => store.make(open, args), [store, open]);
  useEffect(() => (abortOnLeave ? store.abort : undefined), [store, abortOnLeave]);
  return { ...state, call, abort: store.abort };
}
