import { HelloAcceptor } from './answers/hello-acceptor.js';
import type { ExpectedHello } from './answers/hello-acceptor.js';
import { WideningLimits } from './answers/hello-limits.js';
import { serving } from './answers.js';
import type { ResolvedOptions } from './options.js';
import { PeerCore } from './core.js';

/** Options of an accepted peer, checked and with defaults. */
export interface AcceptorOptions extends ResolvedOptions {
  /** `null` if no hello is expected. */
  readonly hello: ExpectedHello | null;
}

/** Makes the core of one accepted peer. */
export function acceptorCore(options: AcceptorOptions): PeerCore {
  const { hello } = options;
  if (hello === null) return new PeerCore(options);
  const limits = new WideningLimits(options.limits, hello.limits);
  const core = new PeerCore({ ...options, limits: limits.now });
  serving(core).expectHello(new HelloAcceptor(core, hello, limits));
  return core;
}
