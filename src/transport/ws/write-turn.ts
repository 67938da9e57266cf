/** Writes messages in few writes for each turn. */
export interface TurnWriter {
  /** Writes the waiting messages. */
  flush(): void;
  /** Called after all messages of the turn. Writes those that wait. */
  endTurn(): void;
}

/**
 * So many sockets write one after the other. Between two writes of one broadcast, the code of all other work would push the kernel's code
 * out of the processor's cache. With more sockets, the first remote would wait too long.
 */
export const GROUP = 32;

// Captured before a test runner can install fake timers.
const nextTick = process.nextTick.bind(process);

/** Writers whose turn has not ended. */
let waiting: TurnWriter[] = [];

/**
 * Calls `endTurn` of a writer once, after all messages of one read. One tick serves the writers of all sockets. Each full {@link GROUP} of
 * writers writes before that.
 *
 * @returns whether the writer is the first of its turn
 */
export function joinTurn(writer: TurnWriter): boolean {
  const { length } = waiting;
  // `setImmediate` would put the two ends in lockstep.
  if (length === 0) nextTick(endTurns);
  else if (length % GROUP === 0) for (const before of waiting.slice(-GROUP)) guarded(before, 'flush');
  waiting.push(writer);
  return length === 0;
}

function endTurns(): void {
  const ending = waiting;
  waiting = [];
  for (const writer of ending) guarded(writer, 'endTurn');
}

/** A stream that throws must not keep the other sockets from writing. */
function guarded(writer: TurnWriter, act: keyof TurnWriter): void {
  try {
    writer[act]();
  } catch (error) {
    nextTick(rethrow, error);
  }
}

function rethrow(error: unknown): never {
  throw error;
}

// No turn follows when the process exits. But a write still reaches the kernel at once if the kernel has room.
process.on('exit', endTurns);
