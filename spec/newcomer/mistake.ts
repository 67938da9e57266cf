import { format } from 'node:util';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { client } from '../../src/contract.js';
import type { Client, Contract } from '../../src/contract.js';
import type { ConnectUrl, Peer } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { NodeConnectOptions, UpgradeOptions } from '../../src/node.js';
import { settled } from '../support/peer/outcome.js';

/** A mistake of a newcomer, and all that its author sees. */
export type Mistake = {
  /** The author's act. */
  readonly mistake: string;
  /** Makes the mistake. */
  readonly program: (lab: Lab) => unknown;
  /** The lines on the console, of both ends. Default none. */
  readonly prints?: readonly RegExp[];
} & (
  | {
      /** The text of the error at the caller. */
      readonly fails: RegExp;
    }
  | {
      /** The value at the caller, */
      readonly gets: unknown;
      /** and why there is no error. */
      readonly because: string;
    }
);

/** The options of a server on a port. */
type ServerOptions = UpgradeOptions & { readonly port?: number; readonly path?: string };

/** The servers and peers of a row, with a newcomer's options: the defaults. */
export class Lab {
  readonly #endings: (() => unknown)[] = [];

  /** Registers what runs after the row, the last one first. */
  after(end: () => unknown): void {
    this.#endings.unshift(end);
  }

  /** Starts a server on a free port. Returns its address. */
  async serve(options: ServerOptions = {}): Promise<string> {
    const server = serve({ port: 0, ...options });
    this.after(() => server.close());
    await server.listening;
    return server.url;
  }

  dial(url: ConnectUrl, options?: NodeConnectOptions): Peer {
    const peer = connect(url, options);
    this.after(() => peer.close());
    return peer;
  }

  /** Starts a server, and returns the calls of a client. */
  async calls<C extends Contract>(api: C, server: ServerOptions, options?: NodeConnectOptions): Promise<Client<C>> {
    return client(this.dial(await this.serve(server), options), api);
  }

  async end(): Promise<void> {
    for (const end of this.#endings.splice(0)) await end();
  }
}

/** A value as a program without types passes it. */
export function untyped(value: unknown): never {
  return value as never;
}

/** Tests each row. The author of the mistake sees its texts, and no other. */
export function mistakes(rows: readonly Mistake[]): void {
  const printed: string[] = [];
  let lab: Lab;
  beforeEach(() => {
    lab = new Lab();
    printed.length = 0;
    for (const level of ['warn', 'error'] as const)
      jest.spyOn(console, level).mockImplementation((...line: readonly unknown[]) => void printed.push(format(...line)));
  });
  afterEach(async () => {
    await lab.end();
    jest.restoreAllMocks();
  });

  it.each(rows)('The author of a mistake sees what to do: $mistake', async ({ program, prints = [], ...seen }) => {
    const outcome = await settled(Promise.resolve(lab).then(program));
    if ('fails' in seen) expect(outcome).toMatchObject({ error: expect.objectContaining({ message: expect.stringMatching(seen.fails) }) });
    else expect(outcome).toEqual({ value: seen.gets });
    expect(printed).toEqual(prints.map((line) => expect.stringMatching(line)));
  });
}
