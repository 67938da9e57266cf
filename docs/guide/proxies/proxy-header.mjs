import { Buffer } from 'node:buffer';
import proxyProtocol from 'proxy-protocol-js';

const HEAD_BYTES = 16;
const TIMEOUT_MS = 5_000;

/** Makes an HTTP server read a PROXY header of each connection. */
export function readProxyHeaders(http) {
  const listeners = http.listeners('connection');
  const known = new WeakSet();
  http.removeAllListeners('connection');
  http.on('connection', (socket) => {
    const pass = () => {
      for (const listener of listeners) listener.call(http, socket);
    };
    // An upgrade to h2c may bring its connection a second time.
    if (known.has(socket)) return pass();
    known.add(socket);
    const drop = () => socket.destroy();
    let head = null;
    const read = () => {
      head ??= socket.read(HEAD_BYTES);
      if (head === null) return;
      const length = head.readUInt16BE(HEAD_BYTES - 2);
      const body = length > 0 ? socket.read(length) : Buffer.alloc(0);
      if (body === null) return;
      socket.off('readable', read);
      try {
        const value = addressOf(Buffer.concat([head, body]));
        if (value !== null) {
          Object.defineProperty(socket, 'remoteAddress', { value });
        }
      } catch {
        return drop();
      }
      socket.setTimeout(0).off('timeout', drop).off('error', drop);
      pass();
    };
    socket.setTimeout(TIMEOUT_MS).on('timeout', drop);
    socket.on('error', drop).on('readable', read);
  });
}

/** The client's address; null if the proxy speaks for itself. */
function addressOf(header) {
  const { V2ProxyProtocol, Command } = proxyProtocol;
  const { command, proxyAddress } = V2ProxyProtocol.parse(header);
  const bytes = proxyAddress?.sourceAddress?.address;
  if (command !== Command.PROXY) return null;
  if (bytes?.length === 4) return bytes.join('.');
  if (bytes?.length !== 16) return null;
  return Buffer.from(bytes).toString('hex').match(/.{4}/g).join(':');
}
