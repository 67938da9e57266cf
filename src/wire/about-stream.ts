/** A message that begins with the id of the stream which it is about; of one that has no id yet, or of a connection, it is the text alone. */
export function aboutStream(stream: unknown, text: string): string {
  return typeof stream === 'number' ? `stream ${stream}: ${text}` : text;
}
