// Taken before fake timers of a test runner can be in its place: they would hold up sockets.
const immediate = typeof setImmediate === 'function' ? setImmediate : null;

/** A turn of the event loop later: after the reading that is due, unlike a microtask. */
export const laterTurn: (task: () => void) => void = immediate === null ? throughChannel : (task) => void immediate(task);

/** {@link laterTurn} by a message to oneself. */
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
