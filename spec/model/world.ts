import { isDeepStrictEqual } from 'node:util';
import type { MemoryClock } from '../../src/testing/memory-clock.js';
import type { Command, Config } from './commands.js';
import { valueOf } from './commands.js';
import { checkReceived, checkAgreement, show } from './model.js';
import type { Held } from './held.js';
import { checkReason } from './reasons.js';
import { ENDS, otherEnd, Pipe } from './pipe.js';
import { Side } from './side.js';
import type { Order } from './orders.js';
import { demand, Findings } from './violation.js';
import { encodedLength } from '../../src/wire/length.js';

/** Two peers, the line between them, and the known facts about both. */
export class World {
  readonly findings = new Findings();
  readonly pipe: Pipe;
  readonly sides: readonly [Side, Side];
  /** Whether a frame has arrived that no honest peer sent. */
  hostile = false;
  /** The orders of the handlers, by call. */
  readonly orders = new Map<number, Order>();
  readonly #tainted = new Set<number>();
  readonly #pending = new Map<number, string>();
  readonly #refused = new Set<number>();
  readonly #runs = new Map<number, number>();
  #serial = 0;
  #promises = 0;

  constructor(
    readonly config: Config,
    readonly clock: MemoryClock,
  ) {
    this.pipe = new Pipe(`mux.v1.${config.codec}`);
    this.pipe.onSend = (from, message) => {
      const bytes = encodedLength(message);
      this.findings.note(bytes <= config.cap, 'messages within the cap', () => `side ${from} wrote ${bytes} bytes, over ${config.cap}`);
    };
    this.sides = [new Side(this, 0, config, this.pipe.sockets[0]), new Side(this, 1, config, this.pipe.sockets[1])];
  }

  get held(): readonly Held[] {
    return this.sides.flatMap(({ held }) => held);
  }

  /** The promises that still have to settle. */
  get pending(): readonly string[] {
    return [...this.#pending.values()];
  }

  /** Whether the line is intact. */
  get connected(): boolean {
    return this.sides.every(({ peer }) => peer.status.state === 'open') && this.pipe.sockets.every(({ closes }) => closes.length === 0);
  }

  /** Returns a number that is used once. */
  serial(): number {
    return ++this.#serial;
  }

  value(command: Command): unknown {
    return valueOf(command, this.serial(), this.config.codec);
  }

  /** Registers a promise that has to settle before the end. */
  awaits(promise: Promise<unknown>, name: string): void {
    const key = ++this.#promises;
    this.#pending.set(key, name);
    const settle = (): void => {
      this.#pending.delete(key);
    };
    promise.then(settle, settle);
  }

  /** Excludes a stream from the checks. */
  taint(stream: number): void {
    this.#tainted.add(stream);
  }

  /** Whether the handler of a call refuses it, as it does once. */
  refusesFirst(call: number): boolean {
    const first = !this.#refused.has(call);
    this.#refused.add(call);
    return first;
  }

  /** Records that the handler of a call has begun its work. */
  ran(order: Order): void {
    const { call } = order;
    const given = this.orders.get(call);
    this.findings.note(isDeepStrictEqual(order, given), 'payloads in order', () => `a handler got ${show(order)} for ${show(given)}`);
    const runs = (this.#runs.get(call) ?? 0) + 1;
    this.#runs.set(call, runs);
    this.findings.note(runs === 1, 'at most once', () => `call ${call} ran ${runs} times`);
  }

  /** Records that the handler of a call has done nothing. */
  undone(call: number): void {
    this.#runs.delete(call);
  }

  /** @throws Violation for a state that is never allowed */
  check(): void {
    this.findings.report();
    for (const end of ENDS) {
      const { session, limits, active } = this.sides[end];
      const { used } = session.budget.held;
      demand(used >= 0 && used <= limits.maxHeldBytes, 'bytes within the limit', () => `side ${end} holds ${used} bytes`);
      demand(session.places <= limits.maxStreams, 'bytes within the limit', () => `side ${end} keeps ${session.places} streams`);
      let unread = 0;
      for (const held of active) {
        if (!this.#tainted.has(held.id)) held.check();
        unread += held.unread;
        if (held.cause !== null) active.delete(held);
      }
      demand(unread <= limits.maxHeldBytes, 'bytes within the limit', () => `side ${end} keeps ${unread} unread bytes`);
    }
    this.findings.report();
  }

  /** @throws Violation for a stream that was reset without a reason */
  checkReasons(): void {
    const { cap, tight } = this.config;
    const around = { parting: !this.connected, tight, sliced: cap < 65_536 };
    for (const held of this.held) checkReason(held, around);
  }

  /** @throws Violation for two sides of a stream that do not match */
  checkPairs(): void {
    for (const end of ENDS)
      for (const [id, here] of this.sides[end].byId) {
        const there = this.sides[otherEnd(end)].byId.get(id);
        if (there === undefined || this.#tainted.has(id)) continue;
        checkReceived(here, there);
        checkAgreement(here, there);
        checkMetadata(here, there);
      }
  }
}

function checkMetadata(here: Held, there: Held): void {
  const { stream, model, name } = here;
  const headers = stream.local ? stream.replyHeaders : stream.headers;
  const expected = there.model.headers ?? {};
  demand(headers === null || show(headers) === show(expected), 'headers once', () => `${name} had ${show(headers)}, not ${show(expected)}`);
  const { trailers } = stream;
  const whole = here.cause?.how === 'ended' && there.cause?.how === 'ended';
  const fits =
    trailers === null ? !whole || there.model.trailers === null : model.remoteEnded && show(trailers) === show(there.model.trailers);
  demand(fits, 'trailers with the end', () => `${name} had ${show(trailers)} of ${show(there.model.trailers)}`);
}
