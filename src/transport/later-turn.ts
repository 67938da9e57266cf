/** A turn of the event loop later: behind the reading that is due, unlike a microtask. */
export const laterTurn: (task: () => void) => void =
  typeof setImmediate === 'function' ? (task) => void setImmediate(task) : throughChannel;

/** {@link laterTurn} by a message to oneself, which no fake timers of a test runner hold up. */
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
