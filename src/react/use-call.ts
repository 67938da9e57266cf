import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Procedure } from '../contract/procedure.js';
import { CallStore } from '../store/call-store.js';
import type { CallActions, CallState, UseCallOptions } from '../store/call-store.js';
import type { Source } from '../stream/input.js';

/** Calls as a component makes and shows them. `call` stays the same function as long as `open` does. */
export type UsedCall<Args extends readonly unknown[], T, X extends Procedure = Procedure> = CallState<T, X> & CallActions<Args, T>;

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
  open: (...args: Args) => Source<T>,
  options: UseCallOptions<T, X> = {},
): UsedCall<Args, T, X> {
  const [store] = useState(() => new CallStore<T, X>(options));
  const { abortOnLeave = false } = options;
  const state = useSyncExternalStore(store.subscribe, store.state, store.rendered);
  const call = useCallback((...args: Args) => store.make(open, args), [store, open]);
  const latest = useRef(abortOnLeave);
  useEffect(() => {
    latest.current = abortOnLeave;
  });
  // Not an effect of the option: a change of it would end calls of a component that stays.
  useEffect(
    () => () => {
      if (latest.current) store.abort();
    },
    [store],
  );
  return { ...state, call, abort: store.abort };
}
