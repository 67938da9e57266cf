import { fromEvent, Subscription } from 'rxjs';

/** The part of a MessagePort that `portSocket` uses. Ports of browsers, of `node:worker_threads`, and of Electron's main process have it. */
export interface PortLike {
  /** Sends one message to the other end. */
  postMessage(message: unknown): void;
  /** Begins to deliver messages. */
  start(): void;
  /** Ends the port. */
  close(): void;
}

/** Hears a port. */
export interface PortListener {
  readonly message: (data: unknown) => void;
  /** The other end, or its process, has gone. Older browsers do not report it. */
  readonly closed: () => void;
  /** The page of this end goes away. */
  readonly leaving: () => void;
}

/** Starts a port, and listens until the subscription ends. */
export function listenToPort(port: PortLike, { message, closed, leaving }: PortListener): Subscription {
  const target = port as PortLike & EventTarget;
  const listening = new Subscription();
  listening.add(
    fromEvent<MessageEvent>(target, 'message').subscribe(({ data }) => {
      message(data);
    }),
  );
  listening.add(fromEvent(target, 'close').subscribe(closed));
  // A message is missing, and the next one would take its place.
  listening.add(fromEvent(target, 'messageerror').subscribe(closed));
  if (typeof addEventListener === 'function')
    listening.add(
      fromEvent<PageTransitionEvent>(globalThis, 'pagehide').subscribe(({ persisted }) => {
        if (!persisted) leaving();
      }),
    );
  port.start();
  return listening;
}
