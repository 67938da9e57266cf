import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { apiSidebars } from '../api-index.js';
import { toPage } from '../pages.js';
import { search } from '../search.js';
import { withoutContents } from './contents.js';
import { hosted } from './hosted.js';
import { namesOutput } from './output.js';
import { sourceLinks } from './source-links.js';
import { widePictures } from './wide-pictures.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Pages lie outside of this package. Their modules for the server find its vue when they run, from this folder. */
const vueOnTheServer = {
  name: 'vue-on-the-server',
  enforce: 'pre',
  resolveId: (source, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(source) ? { id: source, external: true } : undefined),
};

const page = (text, link) => ({ text, link });
const guide = (text, name) => page(text, `/guide/${name}`);

/** The pages of a folder, by their headings. */
function pagesIn(folder) {
  return readdirSync(`${root}${folder}`)
    .filter((file) => file.endsWith('.md'))
    .map((file) => {
      const [, heading = file] = /^# (.+)$/m.exec(readFileSync(`${root}${folder}/${file}`, 'utf8')) ?? [];
      return page(heading, `/${toPage(`${folder}/${file}`).replace('.md', '')}`);
    });
}

const GROUPS = [
  {
    text: 'Guide',
    items: [
      page('Start', '/start'),
      page('The first hour', '/first-hour'),
      guide('Concepts', 'concepts'),
      guide('Calls', 'calls'),
      guide('Back-pressure', 'back-pressure'),
      guide('Errors', 'errors'),
      guide('Troubleshooting', 'troubleshooting'),
      guide('Reconnect and deploy', 'reconnect'),
      guide('Contracts', 'contracts'),
      guide('Options', 'options'),
      guide('Reference', 'reference'),
      guide('Pictures', 'pictures'),
    ],
  },
  {
    text: 'Around it',
    items: [
      guide('Frameworks', 'frameworks'),
      guide('Servers', 'servers'),
      guide('Proxies', 'proxies'),
      guide('Bun, Deno, workerd', 'runtimes'),
      guide('Topics', 'topics'),
      guide('Testing', 'testing'),
      guide('The inspector', 'inspector'),
      guide('Observing', 'observing'),
      guide('The command', 'command'),
      page('Recipes', '/recipes'),
    ],
  },
  {
    text: 'Coming from',
    items: [guide('socket.io', 'from-socket-io'), guide('rxjs webSocket', 'from-websocket'), guide('tRPC subscriptions', 'from-trpc')],
  },
  {
    text: 'Facts',
    items: [
      guide('Security and limits', 'security'),
      guide('Speed', 'speed'),
      page('Performance', '/PERFORMANCE'),
      page('Reliability', '/RELIABILITY'),
      page('A million connections', '/SCALE'),
      page('Protocol', '/PROTOCOL'),
    ],
  },
  {
    text: 'For contributors',
    items: [
      page('Architecture', '/ARCHITECTURE'),
      page('Contributing', '/CONTRIBUTING'),
      page('Benchmarks', '/benchmarks/README'),
      page('Mutation tests', '/mutation'),
      page('Changelog', '/changelog'),
      page('Before 1.0.0', '/HISTORY'),
      page('Report a vulnerability', '/security'),
    ],
  },
  // Not collapsed: VitePress would nest a button in a button.
  { text: 'Errors by code', items: pagesIn('docs/errors') },
];

/** Pages that no group names, so that a new page has its link. */
const unnamed = ['docs', 'docs/guide']
  .flatMap(pagesIn)
  .filter(({ link }) => link !== '/index' && !GROUPS.some(({ items }) => items.some((item) => item.link === link)));

const NAMES = { title: 'rxmux', description: 'Many streams over one WebSocket, with RxJS at both ends' };

export default {
  ...NAMES,
  ...hosted(NAMES),
  lang: 'en',
  srcDir: root,
  outDir: '../../dist/site',
  cacheDir: 'node_modules/.cache/vitepress',
  cleanUrls: true,
  // Folders with pages that are not of the site.
  srcExclude: ['bench/**', 'coverage/**', 'examples/**', 'marbles/**', 'reports/**', 'scripts/**', 'spec/**', 'src/**', 'docs/skills/**'],
  rewrites: (file) => toPage(file) ?? file,
  vite: {
    publicDir: fileURLToPath(new URL('../public', import.meta.url)),
    plugins: [vueOnTheServer],
    build: { chunkSizeWarningLimit: 5_000 },
  },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      sourceLinks(md, root, toPage);
      withoutContents(md);
      namesOutput(md);
      widePictures(md);
    },
  },
  themeConfig: {
    logo: '/logo.svg',
    search,
    outline: [2, 3],
    nav: [page('Start', '/start'), page('Guide', '/guide/concepts'), page('API', '/api/rxmux/'), page('Protocol', '/PROTOCOL')],
    sidebar: {
      ...apiSidebars(root),
      '/': unnamed.length === 0 ? GROUPS : [...GROUPS, { text: 'More', items: unnamed }],
    },
  },
};
