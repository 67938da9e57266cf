import { it } from '@jest/globals';
it('sees unhandled', async () => {
  const seen: unknown[] = [];
  const f = (e: unknown) => seen.push(e);
  process.on('unhandledRejection', f); process.on('uncaughtException', f);
  void Promise.reject(new Error('a'));
  setTimeout(() => { throw new Error('b'); });
  await new Promise((r) => setTimeout(r, 20));
  console.log(seen);
  process.off('unhandledRejection', f); process.off('uncaughtException', f);
});
