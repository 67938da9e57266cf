const DRAWING = /[\u2500-\u25ff]/;

/** Names output without drawings `txt`: a phone may break its lines. */
export function namesOutput(md) {
  md.core.ruler.push('names-output', ({ tokens }) => {
    for (const token of tokens) if (token.type === 'fence' && token.info === 'text' && !DRAWING.test(token.content)) token.info = 'txt';
  });
}
