import { describe, expect, it } from '@jest/globals';
import { Ledger } from '../../src/node/totals.js';
import type { TotalLimits } from '../../src/node.js';
import type { Share } from '../../src/connection/connection.js';
import { collectLogs } from '../support/peer/logs.js';
import { virtualPeerTime } from '../support/peer/time.js';

/** From half of it on, connections with more than their share wait; from 875 on, upgrades may be refused. */
const UNSENT_BYTES = 1_000;
const FULL = 875;

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
  /** Why the ledger has ended it. */
  reason: string | null = null;
  readonly label = 'peer 1';

  constructor(ledger: Ledger, address: string | null = null) {
    const seat = ledger.seat(address);
    const share = seat.join(this, (reason) => {
      this.reason = reason;
    });
    if (share === null) throw new Error('expected a ledger with limits');
    this.share = share;
    this.leave = () => {
      seat.leave();
    };
    share.onRoom(() => this.room.push(time.now));
  }

  get bufferedAmount(): number {
    this.measurements++;
    return this.unsent;
  }

  /** Opens streams until one is refused. Returns how many it has opened. */
  open(most: number): number {
    for (let opened = 0; ; opened++) {
      if (opened === most || this.share.streamRefusal() !== null) return opened;
      this.share.streamTaken();
    }
  }

  /** Queues bytes. Returns whether their sender has to wait. */
  queue(bytes: number): boolean {
    this.unsent += bytes;
    this.share.queued(bytes);
    return this.share.mustWait();
  }
}

function ledgerOf(limits: Partial<TotalLimits> = { maxTotalUnsentBytes: UNSENT_BYTES }): Ledger {
  return new Ledger({
    maxConnections: Infinity,
    maxConnectionsPerAddress: Infinity,
    maxTotalStreams: Infinity,
    maxTotalHeldBytes: Infinity,
    maxTotalUnsentBytes: Infinity,
    ...limits,
  });
}

const logs = collectLogs();

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
    connection.leave();
    expect(ledger.usage()).toEqual({ maxTotalUnsentBytes: { used: 0, max: UNSENT_BYTES } });
    await time.advance(1_000);
    expect(connection.room).toEqual([]);
    expect(time.isOver()).toBe(true);
  });

  it('An upgrade that would be refused measures the sockets first, but only each 50 ms', async () => {
    const ledger = ledgerOf();
    const connections = Array.from({ length: 10 }, () => new Connection(ledger));
    for (const connection of connections) {
      connection.share.queued(FULL / 10);
      connection.unsent = FULL / 10;
    }
    const [first] = connections;
    expect(ledger.refusal(null)).toEqual({ reason: 'this side is busy', detail: ': maxTotalUnsentBytes (1000)' });
    expect(first?.measurements).toBe(1);
    for (const connection of connections) connection.unsent = 0;
    await time.advance(49);
    expect(ledger.refusal(null)).not.toBeNull();
    await time.advance(1);
    expect(ledger.refusal(null)).toBeNull();
    expect(first?.measurements).toBe(2);
    expect(connections.map(({ reason }) => reason)).toEqual(connections.map(() => null));
  });

  it('The sockets are measured again at once when an eighth of the limit was queued since', () => {
    const ledger = ledgerOf();
    const connection = new Connection(ledger);
    connection.queue(FULL);
    expect(connection.measurements).toBe(1);
    connection.queue(124);
    expect(connection.measurements).toBe(1);
    connection.queue(1);
    expect(connection.measurements).toBe(2);
  });
});

describe('shares', () => {
  it('Addresses divide the last quarter equally, and the connections of one address divide its part', () => {
    const ledger = ledgerOf({ maxTotalStreams: 96 });
    const many = Array.from({ length: 3 }, () => new Connection(ledger, '192.0.2.1'));
    const lone = new Connection(ledger, '192.0.2.2');
    const unknown = new Connection(ledger);
    expect(many[0]?.open(100)).toBe(72);
    expect([lone.open(8), unknown.open(8), many[1]?.open(2), many[2]?.open(2)]).toEqual([8, 8, 2, 2]);
    expect(many.map(({ reason }) => reason)).toEqual([null, null, null]);
    expect(lone.open(1)).toBe(1);
    expect(many.map(({ reason }) => reason === null)).toEqual([false, true, true]);
  });

  it('Each connection has a share of one stream, however many there are, and the greediest ends where no place is left', () => {
    const ledger = ledgerOf({ maxTotalStreams: 16 });
    const greedy = new Connection(ledger, '192.0.2.1');
    const others = Array.from({ length: 15 }, (_, n) => new Connection(ledger, `198.51.100.${n}`));
    expect(greedy.open(100)).toBe(12);
    expect(others.map((other) => other.open(1))).toEqual(others.map(() => 1));
    expect(greedy.reason).toBe('this connection has far more than its part of 16 streams (maxTotalStreams)');
    expect(others.map(({ reason }) => reason)).toEqual(others.map(() => null));
    expect(ledger.usage()).toEqual({ maxTotalStreams: { used: 15, max: 16 } });
    expect(logs.warnings).toEqual([`rxmux: peer 1 is ended: ${String(greedy.reason)}`]);
  });

  it('Connections that have equally much never end each other', () => {
    const ledger = ledgerOf({ maxTotalStreams: 16 });
    const first = Array.from({ length: 16 }, (_, n) => new Connection(ledger, `192.0.2.${n}`));
    const second = Array.from({ length: 16 }, (_, n) => new Connection(ledger, `198.51.100.${n}`));
    expect(first.map((each) => each.open(1))).toEqual(first.map(() => 1));
    expect(second.map((each) => each.open(1))).toEqual(second.map(() => 0));
    expect([...first, ...second].filter(({ reason }) => reason !== null)).toEqual([]);
  });

  it('A connection ends that has most of the address that has most, where another needs more than its share', () => {
    const ledger = ledgerOf({ maxTotalHeldBytes: 1_000_000 });
    const three = Array.from({ length: 3 }, () => new Connection(ledger, '192.0.2.1'));
    const large = new Connection(ledger, '192.0.2.2');
    const others = Array.from({ length: 8 }, (_, n) => new Connection(ledger, `198.51.100.${n}`));
    expect(three.map(({ share }, n) => share.hold(150_000 + n))).toEqual([true, true, true]);
    expect(large.share.hold(200_000)).toBe(true);
    expect(others.map(({ share }) => share.hold(30_000))).toEqual(others.map(() => true));
    expect([...three, large].map(({ reason }) => reason === null)).toEqual([true, true, false, true]);
  });

  it('The bytes of a connection that ends count towards the limit until it releases them', () => {
    const ledger = ledgerOf({ maxTotalHeldBytes: 1_000_000 });
    const [greedy, other] = [new Connection(ledger, '192.0.2.1'), new Connection(ledger, '192.0.2.2')];
    expect(greedy.share.hold(750_000)).toBe(true);
    expect(other.share.hold(200_000)).toBe(true);
    expect(greedy.reason).toBe('this connection has far more than its part of 1000000 bytes (maxTotalHeldBytes)');
    expect([other.share.hold(50_001), other.share.hold(50_000)]).toEqual([false, true]);
    expect(ledger.usage()).toEqual({ maxTotalHeldBytes: { used: 1_000_000, max: 1_000_000 } });
    greedy.share.unhold(750_000);
    expect(ledger.usage()).toEqual({ maxTotalHeldBytes: { used: 250_000, max: 1_000_000 } });
  });

  it('Unsent bytes of a connection that ends count towards the limit until it leaves', () => {
    const ledger = ledgerOf({ maxTotalUnsentBytes: 1_000_000 });
    const [greedy, other] = [new Connection(ledger, '192.0.2.1'), new Connection(ledger, '192.0.2.2')];
    greedy.queue(750_000);
    expect([other.share.overflowsWith(200_000), greedy.reason === null]).toEqual([false, false]);
    other.queue(200_000);
    expect([other.share.overflowsWith(50_001), other.share.overflowsWith(50_000)]).toEqual([true, false]);
    greedy.leave();
    expect(other.share.overflowsWith(50_001)).toBe(false);
  });

  it('A connection within its share gets more while others fill the room of a connection that ends', () => {
    const ledger = ledgerOf({ maxTotalHeldBytes: 1_000_000 });
    const [greedy, eager, modest] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => new Connection(ledger, address));
    expect([greedy?.share.hold(750_000), modest?.share.hold(1_000), greedy?.share.hold(1)]).toEqual([true, true, false]);
    expect(eager?.share.hold(100_000)).toBe(true);
    while (eager?.share.hold(1_000) === true);
    expect([greedy?.reason === null, modest?.share.hold(1_000)]).toEqual([false, true]);
  });

  it('A connection ends once, and the next to end is its neighbour at the same address', () => {
    const ledger = ledgerOf({ maxTotalHeldBytes: 1_000_000 });
    const three = Array.from({ length: 3 }, () => new Connection(ledger, '192.0.2.1'));
    expect(three.map(({ share }, n) => share.hold(250_000 - n))).toEqual([true, true, true]);
    const others = Array.from({ length: 4 }, (_, n) => new Connection(ledger, `198.51.100.${n}`));
    const ends = (): readonly boolean[] => three.map(({ reason }) => reason !== null);
    expect([others[0]?.share.hold(130_000), ends()]).toEqual([true, [true, false, false]]);
    expect(three[0]?.share.hold(1)).toBe(false);
    three[0]?.share.unhold(250_000);
    three[0]?.leave();
    expect([others[1]?.share.hold(150_000), ends()]).toEqual([true, [true, true, false]]);
    expect(ledger.usage()).toEqual({ maxTotalHeldBytes: { used: 779_997, max: 1_000_000 } });
  });

  it('A new connection ends the greediest from seven eighths on', () => {
    const ledger = ledgerOf({ maxTotalUnsentBytes: 1_000_000 });
    const greedy = new Connection(ledger, '192.0.2.1');
    greedy.queue(874_999);
    expect([ledger.refusal('192.0.2.2'), greedy.reason]).toEqual([null, null]);
    greedy.queue(1);
    expect(ledger.refusal('192.0.2.2')).toBeNull();
    expect(greedy.reason).toBe('this connection has far more than its part of 1000000 bytes to send (maxTotalUnsentBytes)');
  });
});
