/** Runs a task after `ms`, if the process still lives then: the timer does not keep it alive. Returns a cancel function. */
export function backgroundTimer(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  timer.unref();
  return () => {
    clearTimeout(timer);
  };
}
