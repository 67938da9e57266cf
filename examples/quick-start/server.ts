// server.ts
import { interval, map } from 'rxjs';
import { serve } from 'rxmux/node';

const server = serve({
  port: Number(process.argv[2] ?? 8080),
  handler: ({ op, n }: { op: string; n: number }, stream) => {
    if (op === 'square') return stream.reply(n * n);
    return stream.sendAll(interval(100).pipe(map((tick) => n - tick)));
  },
});
console.log('listening', await server.listening);
