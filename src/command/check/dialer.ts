import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { Mismatch } from './mismatch.js';
import type { RawCodec } from '../raw-codec.js';
import type { Step } from './rows.js';
import { revive } from './special.js';
import type { Run } from './steps.js';
import type { DialerSteps, Target } from './target.js';
import { isCompression } from './upgrade.js';
import { Wire } from './wire.js';

/** Whether the system kills a program together with all that it has started. */
const HAS_GROUPS = process.platform !== 'win32';

/** How the next handshake is answered. */
interface Answer {
  readonly status: unknown;
  /** The subprotocol of the answer; `null` is none. */
  readonly subprotocol: unknown;
}

/** A program that dials. Each run starts it anew, and appends the address of a server of its own to its arguments. */
export class DialerTarget implements Target {
  readonly dialer: DialerSteps = {
    accept: (step, run) => this.#start(step, run),
    expectExit: (ok, withinMs) => this.#expectExit(ok, withinMs),
    expectDials: (dials, withinMs) => this.#expectDials(dials, withinMs),
  };
  readonly #http = createServer();
  readonly #upgrades = new WebSocketServer({ noServer: true, handleProtocols: () => this.#chosen });
  #chosen: string | false = false;
  #program: ChildProcess | null = null;
  /** Handshakes of the program. */
  #dials: IncomingMessage[] = [];
  #wire: Wire | null = null;

  constructor(private readonly command: readonly string[]) {}

  async connect({ codec, withinMs }: Run): Promise<Wire> {
    if (this.#wire === null) await settled(Promise.race([once(this.#upgrades, 'connection'), this.#exited()]), withinMs);
    const [first] = this.#dials;
    if (this.#wire === null || first === undefined) throw new Mismatch('a dial', this.#withoutDial());
    const { 'sec-websocket-protocol': offer, 'sec-websocket-extensions': extensions } = first.headers;
    if (offer !== `mux.v1.${codec.name}`) throw new Mismatch(`an offer of exactly mux.v1.${codec.name}`, offer ?? 'none');
    if (!isCompression(extensions)) throw new Mismatch('an offer of no extension but permessage-deflate', extensions ?? 'none');
    return this.#wire;
  }

  dispose(): void {
    this.#kill();
    process.off('exit', this.#kill);
    this.#wire?.socket.terminate();
    this.#http.close();
    this.#http.closeAllConnections();
  }

  async #start(step: Step, run: Run): Promise<void> {
    const own = `mux.v1.${run.codec.name}`;
    const answer = { status: revive(step['accept'], run), subprotocol: 'subprotocol' in step ? revive(step['subprotocol'], run) : own };
    this.#http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#dials.push(request);
      this.#answer(answer, request, socket, head, run.codec);
    });
    await once(this.#http.listen(0, '127.0.0.1'), 'listening');
    const [program = '', ...args] = this.command;
    const url = `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
    // A group of its own, which also has what the program starts: npx and shells leave that behind when they are killed.
    this.#program = spawn(program, [...args, url], { stdio: 'ignore', detached: HAS_GROUPS });
    process.once('exit', this.#kill);
    await once(this.#program, 'spawn');
    run.sent.push(`an answer with ${String(answer.status)} to the handshake of ${program}`);
  }

  #answer({ status, subprotocol }: Answer, request: IncomingMessage, socket: Duplex, head: Buffer, codec: RawCodec): void {
    socket.on('error', () => undefined);
    if (status !== 101) {
      socket.end(`HTTP/1.1 ${String(status)} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.#chosen = typeof subprotocol === 'string' ? subprotocol : false;
    this.#upgrades.handleUpgrade(request, socket, head, (upgraded) => {
      this.#wire = new Wire(upgraded, codec, 1);
      this.#upgrades.emit('connection', upgraded, request);
    });
  }

  readonly #kill = (): void => {
    const pid = this.#program?.pid;
    try {
      if (pid !== undefined) process.kill(HAS_GROUPS ? -pid : pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };

  async #expectExit(ok: boolean, withinMs: number): Promise<void> {
    const status = await this.#status(withinMs);
    if (status === null || (status === 0) !== ok)
      throw new Mismatch(ok ? 'the exit status 0' : 'another exit status than 0', String(status ?? 'no exit'));
  }

  async #expectDials(dials: number, withinMs: number): Promise<void> {
    await this.#status(withinMs);
    if (this.#dials.length !== dials) throw new Mismatch(`${dials} dials`, String(this.#dials.length));
  }

  /** The exit status of the program; `null` if it still runs when the time is up. */
  async #status(withinMs: number): Promise<number | null> {
    await settled(this.#exited(), withinMs);
    return this.#program?.exitCode ?? null;
  }

  async #exited(): Promise<void> {
    const program = this.#program;
    if (program !== null && program.exitCode === null && program.signalCode === null) await once(program, 'exit');
  }

  #withoutDial(): string {
    const status = this.#program?.exitCode ?? null;
    return status === null ? 'none' : `none before the program exited with ${status}`;
  }
}

/** Waits until a promise has settled, but not longer than `withinMs`. */
async function settled(promise: Promise<unknown>, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, withinMs);
  });
  await Promise.race([promise.catch(() => undefined), late]);
  clearTimeout(timer);
}
