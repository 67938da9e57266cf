import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { answers, api } from 'shop';

const server = serve({ port: Number(process.argv[2]), host: '127.0.0.1', ...answering(api, answers) });
console.log('listening', await server.listening);
