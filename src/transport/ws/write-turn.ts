/** Writes messages in few writes for each turn. */
export interface TurnWriter {
  /** Called after all messages of the turn. Writes those that wait. */
  endTurn(): void;
}

// Captured before a test runner can install fake timers.
const nextTick = process.nextTick.bind(process);

/** Writers whose turn has not ended. */
let waiting: TurnWriter[] = [];

/** Calls `endTurn` of a writer once, after all messages of one read. One tick serves the writers of all sockets. */
export function endWithTurn(writer: TurnWriter): void {
  // `setImmediate` would put the two ends in lockstep.
  if (waiting.length === 0) nextTick(endTurns);
  waiting.push(writer);
}

function endTurns(): void {
  const ending = waiting;
  waiting = [];
  for (const writer of ending) {
    try {
      writer.endTurn();
    } catch (error) {
      // A stream that throws must not keep the other sockets from writing.
      nextTick(rethrow, error);
    }
  }
}

function rethrow(error: unknown): never {
  throw error;
}

// No turn follows when the process exits. But a write still reaches the kernel at once if the kernel has room.
process.on('exit', endTurns);
