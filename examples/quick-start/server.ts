// server.ts
import { interval, map, take } from 'rxjs';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { api } from './api.ts';

const answers = answering(api, {
  square: ({ n }) => n * n,
  countdown: ({ from }) =>
    interval(100).pipe(
      take(from),
      map((tick) => from - tick),
    ),
});
const server = serve({
  port: Number(process.argv[2] ?? 8080),
  ...answers,
});
console.log('listening', await server.listening);
