import { log, logger } from '../../logger.js';
import type { SocketClose } from '../../transport/transport.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { StreamError } from '../../wire/stream-errors.js';
import { isLoopback, shownAddress } from './address.js';
import type { DialPlan } from './dial-plan.js';
import type { PeerCore } from '../core.js';
import type { Absence } from '../stream/stream-host.js';

/**
 * The dials since the last open socket. It logs the first dial that fails and the dial that opens again, and says why a call was never
 * sent.
 */
export class DialSeries {
  #address: string | null = null;
  #failed = 0;
  #last: { readonly close: SocketClose; readonly error: AnyMuxError } | null = null;

  constructor(
    private readonly core: Pick<PeerCore, 'setRemote'>,
    private readonly plan: Pick<DialPlan, 'url' | 'connectivity'>,
  ) {
    if (typeof plan.url !== 'function') this.#setAddress(String(plan.url));
  }

  /** The address of the last dial; `null` while a function has not returned one. */
  get address(): string | null {
    return this.#address;
  }

  /** Whether a dial would fail because there is no network. An address that is not known yet needs one. */
  get isOffline(): boolean {
    return this.plan.connectivity.offline && (this.#address === null || !isLoopback(this.#address));
  }

  get absence(): Absence {
    const why = this.#last === null ? '' : `; last dial: ${this.#last.close.reason || this.#last.error.message}`;
    return { reason: `no connection to ${this.#where()}${why}`, error: this.#last?.error ?? null };
  }

  dials(address: string): void {
    this.#setAddress(address);
    if (logger.isEnabledFor('debug')) log('debug', `dials ${this.#where()}`);
  }

  /** Called when a dial or its hello has failed. If no dial follows, it logs nothing, because the calls fail with that error. */
  failed(close: SocketClose, error: AnyMuxError, willRetry: boolean): void {
    this.#failed++;
    this.#last = { close, error };
    const what = error instanceof StreamError ? `the hello has failed: ${error.message}` : error.message;
    if (willRetry && this.#failed === 1) log('warn', `a dial failed, and more follow: ${what}`);
    else log('debug', `dial ${this.#failed} in a row failed: ${what}`);
  }

  opened(): void {
    if (this.#failed > 0)
      log('warn', `connected to ${this.#where()} after ${this.#failed} failed ${this.#failed === 1 ? 'dial' : 'dials'}`);
    else if (logger.isEnabledFor('debug')) log('debug', `connected to ${this.#where()}`);
    this.#failed = 0;
    this.#last = null;
  }

  #setAddress(address: string): void {
    if (address === this.#address) return;
    this.#address = address;
    this.core.setRemote(shownAddress(address));
  }

  #where(): string {
    return this.#address === null ? 'a server' : shownAddress(this.#address);
  }
}
