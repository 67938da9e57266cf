import { backgroundTimer } from '../transport/background-timer.js';

/** @param more events since the previous line; 0 for the first event of a kind, which is logged at once */
type Line = (more: number) => void;

interface Kind {
  more: number;
  line: Line;
  cancel: () => void;
}

/** Logs events that a remote can cause at any rate. It logs the first event of each kind at once, then one line a period with a count. */
export class SparseLog {
  readonly #kinds = new Map<string, Kind>();

  /** @param periodMs the shortest time between two lines of a kind */
  note(kind: string, periodMs: number, line: Line): void {
    const known = this.#kinds.get(kind);
    if (known !== undefined) {
      known.more++;
      known.line = line;
      return;
    }
    this.#kinds.set(kind, { more: 0, line, cancel: this.#endPeriod(kind, periodMs) });
    line(0);
  }

  /** Logs the counts now. */
  close(): void {
    const kinds = [...this.#kinds.values()];
    this.#kinds.clear();
    for (const { more, line, cancel } of kinds) {
      cancel();
      if (more > 0) line(more);
    }
  }

  #endPeriod(kind: string, periodMs: number): () => void {
    return backgroundTimer(periodMs, () => {
      const ended = this.#kinds.get(kind);
      if (ended === undefined) return;
      const { more, line } = ended;
      if (more === 0) {
        this.#kinds.delete(kind);
        return;
      }
      this.#kinds.set(kind, { more: 0, line, cancel: this.#endPeriod(kind, periodMs) });
      line(more);
    });
  }
}
