// Builds the inspector into dist/inspector: `inspector.html`, one page without any other file, and `page.js`, which pages of users load lazily.
// `npm run build` runs it. These files alone hold code of other packages, and so their licences.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, transform } from 'esbuild';

const here = import.meta.dirname;
const source = join(here, '../../src');
const target = join(here, '../../dist/inspector');

/** Styles are texts of the script, which the bundler would leave as they are. */
const smallStyles = {
  name: 'small styles',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true });
      return { contents: code, loader: 'text' };
    });
  },
};

installPackages();
const licences = ['preact', 'uplot'].map((name) => `${name}\n\n${readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8')}`);
const notice = `This file holds code of other packages.\n\n${licences.join('\n')}`;
mkdirSync(target, { recursive: true });
await Promise.all([buildPage(), buildModule()]);

/** Once for each lock file: a build takes no packages of another time. */
function installPackages() {
  const installed = join(here, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(here, 'package-lock.json')).mtimeMs) return;
  const { status } = spawnSync('npm', ['ci', '--prefix', here, '--silent', '--no-audit', '--no-fund'], { stdio: 'inherit', shell: true });
  if (status !== 0) throw new Error(`expected npm ci to install the packages of the inspector, got ${status}`);
}

async function bundled(entry, options) {
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [smallStyles],
    logLevel: 'warning',
    ...options,
  });
  return outputFiles[0].text;
}

async function buildPage() {
  const text = await bundled('page/main.tsx', {
    alias: {
      rxmux: join(source, 'index.ts'),
      'rxmux/inspect': join(source, 'inspect.ts'),
      'rxmux/testing': join(source, 'testing.ts'),
    },
    // The manifest's `sideEffects` describes the built files, not the sources.
    ignoreAnnotations: true,
  });
  // A script must not end the element that holds it.
  const script = text.replaceAll('</script', '<\\/script');
  const page = readFileSync(join(here, 'index.html'), 'utf8').replace('/* SCRIPT */', () => script);
  writeFileSync(join(target, 'inspector.html'), `${page}<!--\n${notice}-->\n`);
}

/** The page's parts as a module. It shares rxmux and rxjs with the page of the user. */
async function buildModule() {
  const text = await bundled('page/show.tsx', { external: ['rxmux', 'rxmux/inspect', 'rxjs'] });
  writeFileSync(join(target, 'page.js'), `/*!\n${notice.replaceAll('*/', '* /')}*/\n${text}`);
}
