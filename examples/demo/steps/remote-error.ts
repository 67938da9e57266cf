import assert from 'node:assert/strict';
import { defaultErrorSerializer, RemoteError } from 'rxmux';
import type { Step } from '../step.js';

class OutOfStock extends Error {
  override readonly name = 'OutOfStock';

  constructor(
    readonly article: string,
    readonly left: number,
  ) {
    super(`only ${left} left of ${article}`);
  }
}

/** Returns the facts that the server sends about an error. They become `RemoteError.payload`. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof OutOfStock)) return defaultErrorSerializer(error);
  const { name, message, article, left } = error;
  return { name, message, article, left };
}

/** Reports the planned error on one line, and any other error with its stack. */
export function reportError(error: unknown): void {
  if (error instanceof OutOfStock) console.log(`  the server reports ${error.name}: ${error.message}`);
  else console.error(error);
}

/** A handler that throws ends its own stream, and no other. */
export const remoteError: Step = {
  title: `the server's error arrives with its facts`,
  file: 'steps/remote-error.ts',
  checked: 'the error has its name, its message and its facts, and the connection lives',

  answers: {
    order({ article }: { readonly article: string }) {
      throw new OutOfStock(article, 3);
    },
  },

  async run(peer, terminal) {
    const error = await peer.request({ op: 'order', article: 'mugs', count: 10 }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof RemoteError, `expected a RemoteError, got ${String(error)}`);
    terminal.line(`${error.name}: ${error.message}`);
    terminal.line(`payload ${JSON.stringify(error.payload)}, retriable ${error.retriable}`);
    assert.deepEqual(error.payload, { name: 'OutOfStock', message: 'only 3 left of mugs', article: 'mugs', left: 3 });
    assert.ok((await peer.ping()) >= 0, 'the connection lives');
  },
};
