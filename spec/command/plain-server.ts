// A second server of mux.v1, written from docs/PROTOCOL.md alone over plain `ws`. It shares no code with the library, has only the codec json,
// and answers the agreed payloads of `rxmux check`.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

export type PlainFrame = Readonly<Record<string, unknown>>;

export interface PlainStream {
  readonly id: number;
  /** Whether the remote opened it, and its open is not whole. */
  isArriving: boolean;
  remoteEnded: boolean;
  partial: { readonly type: unknown; readonly parts: string[] } | null;
  payloads: number;
  timer?: NodeJS.Timeout;
  /** Called with each payload, and with null for an end before any. */
  onPayload?: (payload: unknown) => void;
  onEnd?: () => void;
  onReset?: (code: unknown) => void;
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...{
    stream: isId,
    last_stream: isId,
    code: Number.isInteger,
    reason: isText,
    nonce: isText,
    fragment: isText,
    headers: isMap,
    trailers: isMap,
  },
  ...{ more: isFlag, end: isFlag, type: isText },
};

export class PlainPeer {
  highest = 0;
  nextId = 2;
  dispatched = 0;
  announced = Infinity;
  readonly streams = new Map<unknown, PlainStream>();

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.fail(1003);
      else this.receive(data.toString());
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const { timer } of this.streams.values()) clearTimeout(timer);
    });
  }

  receive(text: string): void {
    const frame = this.decode(text);
    if (frame === null) this.fail(1002);
    else if (frame['type'] === 'ping') this.ping(frame);
    else if (frame['type'] === 'goaway') this.goneAway(frame);
    else if (frame['type'] === 'open') this.opening(frame);
    else if (frame['type'] === 'data' || frame['type'] === 'reset') this.ofStream(frame);
  }

  /** Returns the frame of a message, without keys at their defaults, or `null`. */
  decode(text: string): PlainFrame | null {
    try {
      const map = JSON.parse(text) as PlainFrame;
      if (!isMap(map) || !('type' in map) || depthOf(map) > 257) return null;
      const kept = Object.entries(map).filter(
        ([key, value]) => key === 'payload' || (key in FIELDS && (value !== null || FIELDS[key] === isFlag || key === 'type')),
      );
      const isRight = kept.every(([key, value]) => key === 'payload' || FIELDS[key]?.(value));
      const frame = Object.fromEntries(kept.filter(([, value]) => value !== false));
      return isRight && !('payload' in frame && 'fragment' in frame)
        ? { ...frame, ...('payload' in map && { payload: map['payload'] }) }
        : null;
    } catch {
      return null;
    }
  }

  ping({ nonce }: PlainFrame): void {
    const pong = { type: 'pong', ...(nonce !== undefined && { nonce }) };
    if (Buffer.byteLength(JSON.stringify(pong)) <= 65_536) this.send(pong);
  }

  goneAway({ code = 0, last_stream: last = Infinity }: PlainFrame): void {
    for (const stream of this.streams.values()) if (stream.id % 2 === 0 && stream.id > Number(last)) this.closed(stream, 7);
    if (code !== 0) setTimeout(() => this.socket.close(1000), 1000).unref();
  }

  opening(frame: PlainFrame): void {
    const id = Number(frame['stream'] ?? 0);
    if (id % 2 === 0 || (id <= this.highest && frame['fragment'] === undefined)) {
      this.fail(1002);
      return;
    }
    const known = this.streams.get(id);
    if (id <= this.highest && known === undefined) return;
    if (known !== undefined && !known.isArriving) {
      this.reset(id, 1);
      return;
    }
    this.highest = Math.max(this.highest, id);
    if (id > this.announced) {
      this.reset(id, 7);
      return;
    }
    const stream = known ?? { id, isArriving: true, remoteEnded: false, partial: null, payloads: 0 };
    this.streams.set(id, stream);
    this.take(stream, frame);
  }

  ofStream(frame: PlainFrame): void {
    const id = Number(frame['stream'] ?? 0);
    const stream = this.streams.get(id);
    if (stream !== undefined) this.admitted(stream, frame);
    else if (frame['type'] === 'data' && id > 0 && !this.wasOpened(id)) this.reset(id, 1);
  }

  wasOpened(id: number): boolean {
    return id % 2 === 0 ? id < this.nextId : id <= this.highest;
  }

  admitted(stream: PlainStream, frame: PlainFrame): void {
    if (frame['type'] === 'reset') {
      this.take(stream, frame);
      return;
    }
    if (stream.isArriving) {
      this.reset(stream.id, 1);
      return;
    }
    if (stream.remoteEnded) {
      this.reset(stream.id, 5);
      return;
    }
    if (!this.isEmpty(frame)) this.take(stream, frame);
  }

  isEmpty(frame: PlainFrame): boolean {
    return !['payload', 'fragment', 'more', 'end', 'headers'].some((key) => key in frame);
  }

  /** Takes a frame that fits its stream, and joins fragments. */
  take(stream: PlainStream, frame: PlainFrame): void {
    const { type, fragment, more } = frame;
    const isReset = type === 'reset';
    if (this.isMalformed(stream, frame)) {
      if (isReset) this.closed(stream, frame['code']);
      else this.reset(stream.id, 1);
    } else if (fragment === undefined) this.whole(stream, frame);
    else {
      if (stream.partial === null || stream.partial.type !== type) stream.partial = { type, parts: [] };
      stream.partial.parts.push(String(fragment));
      if (more === true) return;
      const payload = this.join(stream.partial.parts);
      stream.partial = null;
      if (payload === undefined && !isReset) this.reset(stream.id, 1);
      else this.whole(stream, { ...frame, payload });
    }
  }

  isMalformed({ partial }: PlainStream, { type, fragment, more, end, trailers }: PlainFrame): boolean {
    if (more === true && (fragment === undefined || end !== undefined || trailers !== undefined)) return true;
    return partial !== null && type !== 'reset' && (fragment === undefined || type !== partial.type);
  }

  join(parts: readonly string[]): unknown {
    try {
      return JSON.parse(parts.join('')) as unknown;
    } catch {
      return undefined;
    }
  }

  whole(stream: PlainStream, frame: PlainFrame): void {
    if (frame['type'] === 'reset') {
      this.closed(stream, frame['code']);
      return;
    }
    stream.remoteEnded = frame['end'] === true;
    if (frame['type'] === 'open') {
      stream.isArriving = false;
      this.dispatched = Math.max(this.dispatched, stream.id);
      this.handle(stream, frame['payload']);
      return;
    }
    if ('payload' in frame) this.delivered(stream, frame['payload']);
    if (stream.remoteEnded) this.remoteEnded(stream);
  }

  delivered(stream: PlainStream, payload: unknown): void {
    stream.payloads++;
    stream.onPayload?.(payload);
  }

  remoteEnded(stream: PlainStream): void {
    stream.onEnd?.();
    if (stream.id % 2 === 0) this.forget(stream);
  }

  /** The remote has reset a stream, or refused it. */
  closed(stream: PlainStream, code: unknown): void {
    this.forget(stream);
    stream.onReset?.(code ?? null);
  }

  handle(stream: PlainStream, payload: unknown): void {
    const [name, value] = Array.isArray(payload) ? (payload as unknown[]) : [];
    const reply = (answer: unknown): void => this.reply(stream, answer);
    if (name === 'check.echo') reply(value);
    else if (name === 'check.hold') stream.timer = setTimeout(reply, Number(value), null);
    else if (name === 'check.call') this.request(value, reply);
    else if (name === 'check.bye') this.leave(stream);
    else if (name !== 'check.sink') this.reset(stream.id, 7);
    else if (stream.remoteEnded) reply(0);
    else stream.onEnd = () => reply(stream.payloads);
  }

  request(payload: unknown, settled: (outcome: readonly unknown[]) => void): void {
    const stream: PlainStream = { id: this.nextId, isArriving: false, remoteEnded: false, partial: null, payloads: 0 };
    this.nextId += 2;
    this.streams.set(stream.id, stream);
    this.send({ type: 'open', stream: stream.id, end: true, payload });
    stream.onReset = (code) => settled(['reset', code]);
    stream.onEnd = () => stream.payloads === 0 && settled(['value', null]);
    stream.onPayload = (answer) => {
      if (stream.payloads > 1) this.reset(stream.id, 8);
      else settled(['value', answer]);
    };
  }

  reply(stream: PlainStream, payload: unknown): void {
    this.send({ type: 'data', stream: stream.id, end: true, payload });
    if (!stream.remoteEnded) this.reset(stream.id, 0);
    this.forget(stream);
  }

  /** Goes away, and closes once the live streams have ended. */
  leave(stream: PlainStream): void {
    this.reply(stream, null);
    this.announced = this.lastStream();
    this.send({ type: 'goaway', code: 0, last_stream: this.announced });
    for (const { id, isArriving } of this.streams.values()) if (isArriving && id > this.announced) this.reset(id, 7);
    this.forget(stream);
  }

  lastStream(): number {
    return this.dispatched;
  }

  reset(id: number, code: number): void {
    this.send({ type: 'reset', stream: id, code });
    const stream = this.streams.get(id);
    if (stream !== undefined) this.forget(stream);
  }

  forget(stream: PlainStream): void {
    clearTimeout(stream.timer);
    this.streams.delete(stream.id);
    if (this.announced < Infinity && this.streams.size === 0) this.socket.close(1000);
  }

  fail(closeCode: number): void {
    this.send({ type: 'goaway', code: 1, last_stream: this.dispatched });
    this.socket.close(closeCode);
  }

  /** Sends a frame, in fragments of at most 10 000 UTF-16 units if it is too long for one message. */
  send(frame: PlainFrame): void {
    const message = JSON.stringify(frame);
    if (Buffer.byteLength(message) <= 65_536) {
      this.socket.send(message);
      return;
    }
    const { type, stream, payload, ...rest } = frame;
    const parts = JSON.stringify(payload).match(/[^]{1,10000}(?![\udc00-\udfff])/g) ?? [];
    for (const fragment of parts.slice(0, -1)) this.socket.send(JSON.stringify({ type, stream, fragment, more: true }));
    this.socket.send(JSON.stringify({ type, stream, ...rest, fragment: parts.at(-1) }));
  }
}

export class PlainServer {
  readonly #http = createServer();
  readonly #upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: false, handleProtocols: () => 'mux.v1.json' });

  /** @param Peer the class of each connection */
  constructor(private readonly Peer: typeof PlainPeer = PlainPeer) {
    this.#http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const status = this.statusFor(request.headers);
      if (status !== 101) socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      else this.#upgrades.handleUpgrade(request, socket, head, (upgraded) => new this.Peer(upgraded));
    });
  }

  /** Listens on a free port, and resolves to the address. */
  async listen(): Promise<string> {
    await once(this.#http.listen(0, '127.0.0.1'), 'listening');
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  statusFor(headers: IncomingHttpHeaders): number {
    const offer = (headers['sec-websocket-protocol'] ?? '').split(',').map((value) => value.trim());
    if (offer[0] !== 'mux.v1.json' || offer.includes('') || new Set(offer).size < offer.length) return 400;
    return headers.origin === undefined || new URL(headers.origin).host === headers.host ? 101 : 403;
  }

  close(): void {
    for (const client of this.#upgrades.clients) client.terminate();
    this.#http.close();
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
