// server.ts
import { interval, map } from 'rxjs';
import { ResetCode } from 'rxmux';
import { serve } from 'rxmux/node';

const server = serve({
  port: Number(process.argv[2] ?? 8080),
  handler: ({ op, n }: { op: string; n: number }, stream) => {
    if (op === 'square') return stream.reply(n * n);
    if (op === 'countdown') return stream.sendAll(interval(100).pipe(map((tick) => n - tick)));
    stream.reset(ResetCode.REFUSED, `no op '${op}'`);
    return undefined;
  },
});
console.log('listening', await server.listening);
