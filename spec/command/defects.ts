import type { IncomingHttpHeaders } from 'node:http';
import { PlainPeer, PlainServer } from './plain-server.js';
import type { PlainFrame, PlainStream } from './plain-server.js';

/** A server with one fault, and the row of the check that finds it. */
export interface Defect {
  readonly fault: string;
  readonly row: string;
  readonly server: () => PlainServer;
}

const withPeer = (fault: string, row: string, Peer: typeof PlainPeer): Defect => ({ fault, row, server: () => new PlainServer(Peer) });

class AnyPlaceServer extends PlainServer {
  override statusFor(headers: IncomingHttpHeaders): number {
    return headers['sec-websocket-protocol']?.includes('mux.v1.json') === true ? 101 : 400;
  }
}

class AnyOriginServer extends PlainServer {
  override statusFor(headers: IncomingHttpHeaders): number {
    return super.statusFor({ ...headers, origin: undefined });
  }
}

export const DEFECTS: readonly Defect[] = [
  {
    fault: 'takes an offer in any place',
    row: 'The acceptor refuses its own subprotocol in second place',
    server: () => new AnyPlaceServer(),
  },
  { fault: 'takes any origin', row: 'The acceptor refuses a foreign origin', server: () => new AnyOriginServer() },
  withPeer(
    'refuses a frame of unknown type',
    'The peer ignores a frame of unknown type',
    class extends PlainPeer {
      override receive(text: string): void {
        if (text.includes('window_update')) this.fail(1002);
        else super.receive(text);
      }
    },
  ),
  withPeer(
    'reads no value null as a default',
    'The value null stands for the default of a field',
    class extends PlainPeer {
      override decode(text: string): PlainFrame | null {
        return text.includes('"nonce":null') ? null : super.decode(text);
      }
    },
  ),
  withPeer(
    'takes a code that is no integer',
    'A field of a wrong type ends the connection',
    class extends PlainPeer {
      override decode(text: string): PlainFrame | null {
        return super.decode(text.replace(/"code":1\.5/, '"code":1'));
      }
    },
  ),
  withPeer(
    'closes without a goaway',
    'A message without a type ends the connection',
    class extends PlainPeer {
      override fail(closeCode: number): void {
        this.socket.close(closeCode);
      }
    },
  ),
  withPeer(
    'closes the wrong kind of message with 1002',
    'A message of the wrong kind ends the connection with 1003',
    class extends PlainPeer {
      override fail(): void {
        super.fail(1002);
      }
    },
  ),
  withPeer(
    'accepts a byte order mark',
    'A message that is not JSON ends the connection',
    class extends PlainPeer {
      override decode(text: string): PlainFrame | null {
        return super.decode(text.replace('\ufeff', ''));
      }
    },
  ),
  withPeer(
    'drops __proto__ from payloads',
    'The key __proto__ is an ordinary key of a payload',
    class extends PlainPeer {
      override handle(stream: PlainStream, payload: unknown): void {
        super.handle(stream, JSON.parse(JSON.stringify(payload).replace('"__proto__":{"a":1},', '')));
      }
    },
  ),
  withPeer(
    'loses the empty fragment that closes a payload',
    'An empty fragment is a fragment',
    class extends PlainPeer {
      override take(stream: PlainStream, frame: PlainFrame): void {
        if (frame['fragment'] !== '') super.take(stream, frame);
      }
    },
  ),
  withPeer(
    'keeps a stream whose fragments do not decode',
    'Fragments that do not decode reset the stream',
    class extends PlainPeer {
      override join(parts: readonly string[]): unknown {
        return super.join(parts) ?? null;
      }
    },
  ),
  withPeer(
    'sends messages of more than 65 536 bytes',
    'Each message has at most 65 536 bytes',
    class extends PlainPeer {
      override send(frame: PlainFrame): void {
        this.socket.send(JSON.stringify(frame));
      }
    },
  ),
  withPeer(
    'takes a data before its open is whole',
    'A data before its open is whole resets the stream',
    class extends PlainPeer {
      override admitted(stream: PlainStream, frame: PlainFrame): void {
        if (!stream.isArriving) super.admitted(stream, frame);
      }
    },
  ),
  withPeer(
    'resets a closed stream again',
    'A data of a closed stream is dropped',
    class extends PlainPeer {
      override wasOpened(): boolean {
        return false;
      }
    },
  ),
  withPeer(
    'takes a data after the end',
    'A data after the end resets the stream',
    class extends PlainPeer {
      override admitted(stream: PlainStream, frame: PlainFrame): void {
        if (!stream.remoteEnded) super.admitted(stream, frame);
      }
    },
  ),
  withPeer(
    'counts headers as a payload',
    'An empty data, and headers alone, deliver no payload',
    class extends PlainPeer {
      override whole(stream: PlainStream, frame: PlainFrame): void {
        super.whole(stream, 'headers' in frame && !('payload' in frame) ? { ...frame, payload: null } : frame);
      }
    },
  ),
  withPeer(
    'does not stop an uploader',
    'A handler that settles ends its side, and then the upload',
    class extends PlainPeer {
      override reset(id: number, code: number): void {
        if (code !== 0) super.reset(id, code);
      }
    },
  ),
  withPeer(
    'waits for an end that brings a value',
    'The end alone settles a request with null',
    class extends PlainPeer {
      override remoteEnded(stream: PlainStream): void {
        if (stream.id % 2 === 1 || stream.payloads > 0) super.remoteEnded(stream);
      }
    },
  ),
  withPeer(
    'takes a second payload',
    'A second payload cancels a request',
    class extends PlainPeer {
      override delivered(stream: PlainStream, payload: unknown): void {
        if (stream.id % 2 === 1 || stream.payloads === 0) super.delivered(stream, payload);
      }
    },
  ),
  withPeer(
    'uses each id twice',
    'Ids of the acceptor are even, and rise',
    class extends PlainPeer {
      override request(payload: unknown, settled: (outcome: readonly unknown[]) => void): void {
        super.request(payload, settled);
        this.nextId = 2;
      }
    },
  ),
  withPeer(
    'takes the code of the first fragment of a reset',
    'A reset in fragments takes the code of the last',
    class extends PlainPeer {
      readonly #codes = new Map<number, unknown>();

      override take(stream: PlainStream, frame: PlainFrame): void {
        if (frame['type'] !== 'reset') {
          super.take(stream, frame);
          return;
        }
        if (!this.#codes.has(stream.id)) this.#codes.set(stream.id, frame['code']);
        super.take(stream, { ...frame, code: this.#codes.get(stream.id) });
      }
    },
  ),
  withPeer(
    'answers every ping with a nonce',
    'A ping without a nonce gets a pong without one',
    class extends PlainPeer {
      override ping(frame: PlainFrame): void {
        super.ping({ nonce: '', ...frame });
      }
    },
  ),
  withPeer(
    'ignores last_stream',
    'A goaway refuses the streams above its last_stream',
    class extends PlainPeer {
      override goneAway({ code }: PlainFrame): void {
        super.goneAway({ code });
      }
    },
  ),
  withPeer(
    'announces a last_stream that is too low',
    'A peer that closes announces it, and closes with 1000',
    class extends PlainPeer {
      override lastStream(): number {
        return super.lastStream() - 2;
      }
    },
  ),
  withPeer(
    'keeps the socket after a goaway with an error',
    'A goaway with an error closes the socket with 1000',
    class extends PlainPeer {
      override goneAway({ last_stream }: PlainFrame): void {
        super.goneAway({ last_stream });
      }
    },
  ),
];
