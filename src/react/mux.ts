import { createContext, createElement, useContext, useMemo, useSyncExternalStore } from 'react';
import type { ReactElement, ReactNode } from 'react';
import type { PeerStatus } from '../peer/status.js';
import type { Peer } from '../peer/peer.js';
import { checkProvider, statusStore } from '../store/store.js';

const MuxContext = createContext<Peer | null>(null);

/** The properties of a {@link MuxProvider}. */
export interface MuxProviderProps {
  /** Made once, outside of components, or by the owner that closes it. `lazy: true` keeps a server that renders from dialing. */
  readonly peer: Peer;
  /** The components that use the peer. */
  readonly children?: ReactNode;
}

/**
 * Passes a peer to the components below it. It never closes the peer.
 *
 * @throws TypeError for an object that is no peer, and for an unknown property
 *
 * @example
 * ```tsx
 * const peer = connect('wss://example.org/mux', { lazy: true, reconnect: true });
 *
 * createRoot(root).render(<MuxProvider peer={peer}><App /></MuxProvider>);
 * ```
 */
export function MuxProvider(props: MuxProviderProps): ReactElement {
  checkProvider(props);
  return createElement(MuxContext.Provider, { value: props.peer }, props.children);
}

/**
 * Returns the peer of the nearest {@link MuxProvider}.
 *
 * @throws Error without a provider
 *
 * @example
 * ```tsx
 * const peer = useMux();
 * const rename = (title: string) => peer.request({ op: 'rename', title });
 * ```
 */
export function useMux(): Peer {
  const peer = useOptionalMux();
  if (peer === null) throw new Error('expected a <MuxProvider peer={…}> above this component, got none');
  return peer;
}

/** Returns the peer of the nearest provider; `null` without one. */
export function useOptionalMux(): Peer | null {
  return useContext(MuxContext);
}

/**
 * Returns the status of a peer's connection, and renders again at each change. Reading it makes no lazy peer dial.
 * On a server it is `connecting`.
 *
 * @param peer default: the peer of the provider
 * @throws Error without a peer and a provider; TypeError for an object that is no peer
 *
 * @example
 * ```tsx
 * const status = useMuxStatus();
 * return status.state === 'open' ? <b>live</b> : <i>{status.state}</i>;
 * ```
 */
export function useMuxStatus(peer?: Peer): PeerStatus {
  const provided = useOptionalMux();
  const watched = peer ?? provided;
  if (watched === null) throw new Error('expected a <MuxProvider peer={…}> above this component, or a peer, got neither');
  const store = useMemo(() => statusStore(watched), [watched]);
  return useSyncExternalStore(store.subscribe, store.state, store.rendered);
}
