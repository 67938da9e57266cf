import { describe, expect, it } from '@jest/globals';
import { Ledger } from '../../src/node/totals.js';
import type { Share } from '../../src/connection/connection.js';
import { virtualPeerTime } from '../support/peer/time.js';

/** From half of it on, connections with more than their share wait; from 625 on, upgrades are refused. */
const UNSENT_BYTES = 1_000;
const NEARLY_USED = 625;

const time = virtualPeerTime();

/** A connection whose socket the test empties. */
class Connection {
  /** Bytes that the socket has not sent yet. */
  unsent = 0;
  measurements = 0;
  /** When the ledger reported room, in ms. */
  readonly room: number[] = [];
  readonly share: Share;
  readonly leave: () => void;

  constructor(ledger: Ledger) {
    const seat = ledger.seat(null);
    const share = seat.join(() => {
      this.measurements++;
      return this.unsent;
    });
    if (share === null) throw new Error('expected a ledger with limits');
    this.share = share;
    this.leave = () => {
      seat.leave();
    };
    share.onRoom(() => this.room.push(time.now));
  }

  /** Queues bytes. Returns whether their sender has to wait. */
  queue(bytes: number): boolean {
    this.unsent += bytes;
    this.share.queued(bytes);
    return this.share.mustWait();
  }
}

function ledgerOf(): Ledger {
  return new Ledger({
    maxConnections: Infinity,
    maxConnectionsPerAddress: Infinity,
    maxTotalStreams: Infinity,
    maxTotalHeldBytes: Infinity,
    maxTotalUnsentBytes: UNSENT_BYTES,
  });
}

describe('a ledger', () => {
  it('A connection that waits goes on at the first of the looks each 50 ms after its socket has sent enough', async () => {
    const ledger = ledgerOf();
    const connection = new Connection(ledger);
    expect(connection.queue(600)).toBe(true);
    await time.advance(120);
    expect(connection.room).toEqual([]);
    connection.unsent = 499;
    await time.advance(29);
    expect(connection.room).toEqual([]);
    await time.advance(1);
    expect(connection.room).toEqual([150]);
    expect(time.isOver()).toBe(true);
  });

  it('Connections that wait share one timer, and each goes on once it has less than its share or all have little', async () => {
    const ledger = ledgerOf();
    const [first, second] = [new Connection(ledger), new Connection(ledger)];
    expect([first.queue(400), second.queue(400)]).toEqual([false, true]);
    expect(first.queue(50)).toBe(true);
    expect(time.pending).toBe(1);
    first.unsent = 125;
    await time.advance(50);
    expect([first.room, second.room]).toEqual([[50], []]);
    second.unsent = 374;
    await time.advance(50);
    expect([first.room, second.room]).toEqual([[50], [100]]);
    expect(time.isOver()).toBe(true);
  });

  it('A connection that leaves while it waits hears of no room, and returns its bytes', async () => {
    const ledger = ledgerOf();
    const connection = new Connection(ledger);
    connection.queue(UNSENT_BYTES);
    expect(ledger.refusal(null)).not.toBeNull();
    connection.leave();
    expect(ledger.refusal(null)).toBeNull();
    await time.advance(1_000);
    expect(connection.room).toEqual([]);
    expect(time.isOver()).toBe(true);
  });

  it('An upgrade that would be refused measures the sockets first, but only each 50 ms', async () => {
    const ledger = ledgerOf();
    const connection = new Connection(ledger);
    connection.share.queued(NEARLY_USED);
    connection.unsent = NEARLY_USED;
    expect(ledger.refusal(null)).toEqual({ reason: 'this side is busy', detail: ': maxTotalUnsentBytes (1000)' });
    expect(connection.measurements).toBe(1);
    connection.unsent = 0;
    await time.advance(49);
    expect(ledger.refusal(null)).not.toBeNull();
    await time.advance(1);
    expect(ledger.refusal(null)).toBeNull();
    expect(connection.measurements).toBe(2);
  });

  it('The sockets are measured again at once when an eighth of the limit was queued since', () => {
    const ledger = ledgerOf();
    const connection = new Connection(ledger);
    connection.queue(NEARLY_USED);
    expect(connection.measurements).toBe(1);
    connection.queue(124);
    expect(connection.measurements).toBe(1);
    connection.queue(1);
    expect(connection.measurements).toBe(2);
  });
});
