/** Begins a message with the id of the stream that it is about. Returns the text alone if the stream has no id yet, or for a connection. */
export function aboutStream(stream: unknown, text: string): string {
  return typeof stream === 'number' ? `stream ${stream}: ${text}` : text;
}
