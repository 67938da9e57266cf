/** Runs a task after `ms`. The timer does not keep the process alive. Returns a cancel function. */
export function backgroundTimer(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  timer.unref();
  return () => {
    clearTimeout(timer);
  };
}
