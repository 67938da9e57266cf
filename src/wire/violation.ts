import { aboutStream } from './about-stream.js';
import { ProtocolError } from './errors.js';

/** A ProtocolError about one stream, or about the connection when `stream` is no id; the message starts with the id. */
export function violation(stream: unknown, text: string): ProtocolError {
  return new ProtocolError(aboutStream(stream, text));
}
