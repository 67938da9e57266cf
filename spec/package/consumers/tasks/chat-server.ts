import { createClient } from 'redis';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { redisLog } from 'rxmux/redis';
import { answerTopic } from 'rxmux/topics';
import { api } from './chat-api.ts';

const redis = createClient({ url: `redis://127.0.0.1:${process.argv[2]}` });
await redis.on('error', console.error).connect();
const chat = redisLog<string>(redis, { stream: 'chat' });

const answers = answering(api, {
  say: async ({ line, key }) => {
    await chat.publish(line, { key });
  },
  lines: ({ since }) => answerTopic(chat, since, { from: 'start' }),
});
const server = serve({ port: 0, ...answers });
await server.listening;
process.send?.(server.url);
process.on('disconnect', () => process.exit());
