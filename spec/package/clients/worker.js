// Answers each request with the outcomes of the calls that it makes itself, by the WebSocket of workerd.
import { outcomes } from './outcomes.mjs';

export default {
  fetch: async ({ url }) => Response.json(await outcomes(new URL(url).searchParams.get('server'))),
};
