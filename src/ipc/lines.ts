import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { isMainThread, MessageChannel, MessagePort, parentPort } from 'node:worker_threads';
import { controlOf, portSocket } from '../transport/port.js';
import type { PortLike } from '../transport/port.js';
import type { SocketLike } from '../transport/transport.js';
import { getOrMake } from '../util/collections.js';

/** A message between a worker of a cluster and its primary. The program's own messages pass beside it. */
interface Envelope {
  /** The number of the line, which its worker has chosen. */
  readonly rxmuxLine: number;
  readonly data: unknown;
}

function isEnvelope(message: unknown): message is Envelope {
  return typeof message === 'object' && message !== null && 'rxmuxLine' in message;
}

/** Joins a port of this process to a line between a worker of a cluster and its primary. */
class Line {
  /** The port of this process. */
  readonly port: MessagePort;
  readonly #end: MessagePort;

  constructor(line: number, send: (message: Envelope) => unknown, closed: () => unknown) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.#end = port2;
    port2.on('message', (data: unknown) => send({ rxmuxLine: line, data }));
    port2.once('close', closed);
  }

  arrived(data: unknown): void {
    this.#end.postMessage(data);
  }

  /** The other process has gone. */
  lost(): void {
    this.#end.close();
  }
}

/** The process or thread that has made this one. */
export interface Parent {
  /** Its name in messages. */
  readonly name: string;
  /** Dials it. */
  socket(protocol: string): SocketLike;
  /** Whether it is still there. */
  isThere(): boolean;
}

/** Returns the parent of this process or thread; `null` for the primary, and for a program of one process. */
export function findParent(): Parent | null {
  if (!isMainThread) return { name: 'the parent thread', socket: dialThread, isThere: () => true };
  return cluster.isWorker ? { name: 'the primary process', socket: dialPrimary, isThere: () => process.connected } : null;
}

/** Sends one end of a new channel to the parent. */
function dialThread(protocol: string): SocketLike {
  const { port1, port2 } = new MessageChannel();
  parentPort?.postMessage({ rxmuxPort: port2 }, [port2]);
  return portSocket(port1, protocol);
}

let lines = 0;

function dialPrimary(protocol: string): SocketLike {
  const number = ++lines;
  // A channel that is closed reports by its event.
  const line = new Line(
    number,
    (message) => process.send?.(message, undefined, undefined, () => undefined),
    () => process.off('message', hear).off('disconnect', lost),
  );
  const hear = (message: unknown): void => {
    if (isEnvelope(message) && message.rxmuxLine === number) line.arrived(message.data);
  };
  const lost = (): void => {
    line.lost();
  };
  process.on('message', hear).on('disconnect', lost);
  return portSocket(line.port, protocol);
}

/** Passes on a port for each line that a worker of the cluster, or a thread, opens from now on. */
export function acceptChildren(accept: (port: PortLike) => void): void {
  if (isMainThread && cluster.isPrimary) acceptWorkers(accept);
  process.on('worker', (thread) => {
    thread.on('message', (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('rxmuxPort' in message)) return;
      if (message.rxmuxPort instanceof MessagePort) accept(message.rxmuxPort);
    });
  });
}

function acceptWorkers(accept: (port: PortLike) => void): void {
  const linesOf = new WeakMap<Worker, Map<number, Line>>();
  cluster.on('message', (worker, message: unknown) => {
    if (!isEnvelope(message)) return;
    const { rxmuxLine: number, data } = message;
    const known = getOrMake(linesOf, worker, () => new Map<number, Line>());
    // The last words of a line that has ended here open no other one.
    if (!known.has(number) && controlOf(data)?.[0] !== 'open') return;
    const line = getOrMake(known, number, () => {
      // A worker that has died reports by the event of the cluster.
      const send = (answer: Envelope): unknown => worker.isConnected() && worker.send(answer, () => undefined);
      const made = new Line(number, send, () => known.delete(number));
      accept(made.port);
      return made;
    });
    line.arrived(data);
  });
  cluster.on('disconnect', (worker) => {
    for (const line of linesOf.get(worker)?.values() ?? []) line.lost();
  });
}
