// `npm run docs` builds the site into dist/site: the pages of docs/, an API reference out of the declarations, and the playground. It fails on a warning
// of TypeDoc, on a dead link, and on a search that leads to another page first. A static host serves the result as it is; SITE_URL is its
// address, if that is known (.vitepress/hosted.js).
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hosted } from './.vitepress/hosted.js';
import { writeApiIndexes } from './api-index.js';

const here = import.meta.dirname;
const root = join(here, '../..');
const site = join(root, 'dist/site');
const { base } = hosted({});

for (const folder of [here, join(root, 'examples/inspector')])
  if (!isInstalled(folder)) run('npm', 'ci', '--prefix', folder, '--silent', '--no-audit', '--no-fund');
run('npx', 'typedoc');
writeApiIndexes(root);
// Its bundler was installed above.
const { buildPlayground } = await import('./playground/build.js');
await buildPlayground(root, join(here, 'public/playground.js'));
run('npx', 'vitepress', 'build');

// Its index was installed above, too.
const { misledWords } = await import('./search.js');
const faults = [...deadLinks().map((link) => `dead link: ${link}`), ...(await misledWords(site)).map((word) => `search: ${word}`)];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);

function isInstalled(folder) {
  const installed = join(folder, 'node_modules/.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs;
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: here, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

/** Links of built pages to pages and anchors that do not exist. VitePress itself looks at no anchor. */
function deadLinks() {
  const files = readdirSync(site, { recursive: true }).filter((file) => file.endsWith('.html'));
  const pages = new Map(files.map((file) => [`/${file}`, readFileSync(join(site, file), 'utf8')]));
  const anchors = new Map([...pages].map(([path, text]) => [path, new Set(matches(text, / id="([^"]+)"/g))]));
  console.log(`${pages.size} pages`);
  const isDead = (from, href) => {
    const [address, anchor = ''] = href.split('#');
    if (address !== '' && !address.startsWith(base)) return true;
    const path = address.slice(base.length - 1);
    const clean = path === '' ? from : path.endsWith('/') ? `${path}index.html` : path.endsWith('.html') ? path : `${path}.html`;
    const found = anchors.get(clean);
    return found === undefined ? !existsSync(join(site, path)) : anchor !== '' && !found.has(decodeURIComponent(anchor));
  };
  return [...pages].flatMap(([from, text]) =>
    matches(text, /<a [^>]*?href="([/#][^"]*)"/g)
      .filter((href) => isDead(from, href))
      .map((href) => `${from} → ${href}`),
  );
}

function matches(text, pattern) {
  return [...text.matchAll(pattern)].map(([, found]) => found.replaceAll('&amp;', '&'));
}
