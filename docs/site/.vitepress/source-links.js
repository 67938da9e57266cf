import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

/**
 * Leads links between Markdown files, as a code host follows them, to the pages of the site.
 *
 * @param {string} root the directory of the repository.
 * @param {(file: string) => string | undefined} toPage returns the path of a file's page on the site, if it has one.
 */
export function sourceLinks(md, root, toPage) {
  md.core.ruler.push('source-links', ({ tokens, env }) => {
    const file = env.realPath ?? env.path;
    for (const { children } of tokens)
      for (const token of children ?? []) {
        if (token.type !== 'link_open') continue;
        const href = token.attrGet('href');
        if (/^(#|\/|\w+:)/.test(href)) continue;
        const [path, anchor] = href.split('#');
        const source = resolve(dirname(file), decodeURI(path));
        const page = existsSync(source) ? toPage(relative(root, source)) : undefined;
        if (page === undefined) throw new Error(`${relative(root, file)} links to ${href}, which has no page`);
        token.attrSet('href', `/${page}${anchor === undefined ? '' : `#${anchor}`}`);
      }
  });
}
