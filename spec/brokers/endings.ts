import { afterEach } from '@jest/globals';
import { BrokerError } from '../../src/topics.js';
import { BrokerProcess } from './broker-process.js';
import type { Connected, Kind } from './kinds.js';

const endings: (() => unknown)[] = [];

/** Ends all that a test has begun, the newest first. */
export function endAfterEach(): void {
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end();
  });
}

/** Ends something else after the test. */
export function endLater(end: () => unknown): void {
  endings.push(end);
}

export async function broker(kind: Kind, config?: string): Promise<BrokerProcess> {
  const started = await BrokerProcess.start(kind.product, config);
  endings.push(() => started.stop());
  return started;
}

export async function begin<C extends Pick<Connected, 'close'>>(connecting: Promise<C>): Promise<C> {
  const connected = await connecting;
  endings.push(() => connected.close());
  return connected;
}

/** The code of the error that a promise rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'fulfilled',
    (error: unknown) => (error instanceof BrokerError ? error.code : error),
  );
}
