import { backgroundTimer } from '../util/time.js';

/** @param more events since the previous line; 0 for the first event of a kind, which is logged at once */
type Line = (more: number) => void;

interface Kind {
  /** How many lines may still be logged at once. */
  left: number;
  more: number;
  line: Line;
  cancel: () => void;
}

/** At most so many kinds are counted one by one. All other kinds count as one. */
const MOST_KINDS = 200;
const OTHERS = 'others';

/** Logs events that a remote can cause at any rate. The first events of each kind are logged at once, then one line a period with a count. */
export class SparseLog {
  readonly #kinds = new Map<string, Kind>();

  /**
   * @param periodMs the shortest time between two lines of a kind.
   * @param atOnce how many lines of a kind come at once, after a period without any.
   */
  note(kind: string, periodMs: number, line: Line, atOnce = 1): void {
    const known = this.#kinds.get(kind);
    if (known === undefined) {
      if (this.#kinds.size >= MOST_KINDS && kind !== OTHERS) this.note(OTHERS, periodMs, line, atOnce);
      else {
        this.#kinds.set(kind, { left: atOnce - 1, more: 0, line, cancel: this.#endPeriod(kind, periodMs) });
        line(0);
      }
    } else if (known.left > 0) {
      known.left--;
      line(0);
    } else {
      known.more++;
      known.line = line;
    }
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
      this.#kinds.set(kind, { left: 0, more: 0, line, cancel: this.#endPeriod(kind, periodMs) });
      line(more);
    });
  }
}
