import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import MiniSearch from 'minisearch';
import { toPage } from './pages.js';

/** Sections, each with the words that lead to it first. They are what people type, and what the pages call by another name. */
const WORDS = {
  'docs/first-hour.md': ['hello world', 'tutorial', 'getting started'],
  'docs/guide/contracts.md#declare': ['zod', 'schema'],
  'docs/guide/frameworks.md#react': ['react hooks', 'useEffect', 'suspense', 'StrictMode'],
  'docs/guide/frameworks.md#svelte': ['svelte', 'runes'],
  'docs/guide/frameworks.md#bundlers-and-react-native': ['webpack', 'hot update', 'expo'],
  'docs/guide/inspector.md#in-your-page': ['vite', 'devtools'],
  'docs/guide/contracts.md#what-the-codec-carries': ['date'],
  'docs/guide/options.md#dates-map-set-and-bigint': ['superjson', 'serialization'],
  'docs/guide/reconnect.md#a-page-that-sleeps': ['bfcache', 'wake', 'frozen tab', 'laptop lid'],
  'docs/guide/servers.md#who-may-connect': ['cors', 'csrf', 'cross origin', 'origins'],
  'docs/guide/servers.md#beside-other-servers': ['express', 'fastify'],
  'docs/guide/servers.md#compression': ['compression', 'permessage-deflate'],
  'docs/guide/proxies.md': ['load balancer', 'ingress', 'reverse proxy'],
  'docs/guide/proxies.md#nginx': ['nginx'],
  'docs/guide/proxies.md#haproxy': ['haproxy'],
  'docs/guide/calls.md#progress-of-an-input': ['onProgress'],
  'docs/guide/security.md#limits': ['dos', 'max payload'],
  'docs/guide/topics.md': ['pubsub', 'broadcast', 'kafka'],
  'docs/guide/topics.md#rooms-users-and-presence': ['rooms', 'online users'],
  'docs/recipes.md#a-file-upload-with-progress': ['upload progress'],
  'docs/recipes.md#a-rate-for-each-user': ['rate limit'],
  'docs/recipes.md#a-token-that-is-refreshed': ['auth token', 'authentication', 'bearer', 'login'],
  'docs/recipes.md#a-jwt-that-expires': ['jwt'],
  'docs/recipes.md#a-session-cookie': ['cookie'],
  'docs/recipes.md#a-deploy-on-kubernetes': ['kubernetes', 'readiness probe'],
  'docs/recipes.md#a-long-answer-that-outlives-its-reader': ['llm', 'chatgpt', 'ai tokens'],
};

/** So often a section has each of its words, so that it comes before sections that only use the word. */
const TIMES = 24;
const HEADING = /<h[1-6][^>]*>.*?<a[^>]* href="#([^"]*)".*?<\/h[1-6]>/gs;

const fields = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] };
/** Lists of names, pages for contributors, and pages for users of one other library, come after the guide. The site ships the function as its text. */
const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument: (id) => {
    if (/^\/(api|guide\/reference)/.test(id)) return 0.3;
    return /^\/(ARCHITECTURE|CONTRIBUTING|HISTORY|mutation|changelog|benchmarks|SCALE|PERFORMANCE|guide\/from-)/.test(id) ? 0.5 : 1;
  },
};

/** Options of the site's search. */
export const search = {
  provider: 'local',
  options: { miniSearch: { searchOptions }, _render: (text, env, md) => withWords(env.relativePath, md.render(text, env)) },
};

/** The text of a page for the index. A generated page has one entry, for its name. */
function withWords(page, html) {
  const first = /<h1[^]*?<\/h1>/.exec(html);
  if (page.startsWith('docs/api/')) return (first?.[0] ?? '') + html.replace(/<h[1-6][^]*?<\/h[1-6]>/g, '');
  return html.replace(HEADING, (heading, anchor) => {
    const isFirst = heading.startsWith('<h1');
    const words = WORDS[isFirst ? page : `${page}#${anchor}`] ?? [];
    return `${heading}<p>${`${words.join(' ')} `.repeat(TIMES)}</p>`;
  });
}

/**
 * Asks the index of the built site for each word.
 *
 * @returns {Promise<string[]>} the words that lead to another page first
 */
export async function misledWords(site) {
  const chunks = join(site, 'assets/chunks');
  const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndex'));
  const { default: json } = await import(pathToFileURL(join(chunks, file)).href);
  const index = MiniSearch.loadJSON(json, { ...fields, searchOptions });
  return Object.entries(WORDS).flatMap(([section, words]) => {
    const [page, anchor] = section.split('#');
    const path = `/${toPage(page).replace('.md', '')}`;
    return words.flatMap((word) => {
      const [first] = index.search(word);
      const found = first?.id.split('#');
      const isRight = found?.[0] === path && (anchor === undefined || found[1] === anchor);
      return isRight ? [] : [`'${word}' leads to ${first?.id ?? 'nothing'}, expected ${path}${anchor === undefined ? '' : `#${anchor}`}`];
    });
  });
}
