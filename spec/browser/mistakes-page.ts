import { connect } from '../../src/index.js';

/** Dials, and returns the error. */
async function dial(url: string): Promise<string> {
  const peer = connect(url);
  return peer.opened.then(() => 'open', String).finally(() => void peer.close());
}

Object.assign(globalThis, { dial });
