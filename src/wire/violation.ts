import { aboutStream } from './about-stream.js';
import { ProtocolError } from './errors.js';

/** Returns a ProtocolError about one stream, or about the connection if `stream` is no id. The message starts with the id. */
export function violation(stream: unknown, text: string): ProtocolError {
  return new ProtocolError(aboutStream(stream, text));
}
