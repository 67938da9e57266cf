// Captured before a test runner can install fake timers, which would block sockets.
const immediate = typeof setImmediate === 'function' ? setImmediate : null;

/** Runs a task one turn of the event loop later. Unlike a microtask, it runs after reading that is due. */
export const laterTurn: (task: () => void) => void = immediate === null ? throughChannel : (task) => void immediate(task);

/** {@link laterTurn} by a message over a channel. */
export function throughChannel(task: () => void): void {
  // jsdom has no channels.
  if (typeof MessageChannel === 'undefined') {
    setTimeout(task);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    task();
  };
  port2.postMessage(null);
}
