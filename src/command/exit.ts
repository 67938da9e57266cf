/** The exit statuses of the command. */
export const Exit = {
  OK: 0,
  /** A check found a fault. */
  FAULT: 1,
  USAGE: 2,
  /** The remote's handler failed, or the stream was reset. */
  REMOTE: 3,
  REFUSED: 4,
  TIMEOUT: 5,
  CONNECTION: 6,
  /** Ctrl-C, as shells count it. */
  INTERRUPTED: 130,
  /** SIGTERM, as shells count it. */
  TERMINATED: 143,
} as const;

export type ExitStatus = (typeof Exit)[keyof typeof Exit];

/** Calls `end` with the exit status of Ctrl-C or SIGTERM, at the first of each. */
export function onSignal(end: (status: ExitStatus) => void): void {
  process.once('SIGINT', () => {
    end(Exit.INTERRUPTED);
  });
  process.once('SIGTERM', () => {
    end(Exit.TERMINATED);
  });
}

/** The arguments make no sense. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Returns a function that refuses an argument, which has led to an error. */
export function notUsable(expected: string): (error: unknown) => never {
  return (error) => {
    throw new UsageError(`expected ${expected}: ${(error as Error).message}`);
  };
}

/** Whether the system failed to do something, such as to listen on a port. Its message says all that a person needs. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
