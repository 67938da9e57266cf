import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folders of generated pages, by the kinds of names. */
const KINDS = ['functions', 'classes', 'interfaces', 'type-aliases', 'variables'];

/** Begins the generated pages of each entry point with its section of the reference: its names by subject, each with its link. */
export function writeApiIndexes(root) {
  const api = join(root, 'docs/api');
  for (const { door, text } of sectionsOf(root)) {
    const linked = text.replaceAll(/^\| `(\w+)` \|/gm, (row, name) => {
      const page = pageOf(api, door, name);
      return page === undefined ? row : `| [\`${name}\`](/api/${page}) |`;
    });
    writeFileSync(join(api, door, 'index.md'), `# ${door}\n${linked.replaceAll(/^### /gm, '## ')}`);
  }
}

/** The sidebars of the generated pages, by path: each shows all entry points, and the names of its own by subject. */
export function apiSidebars(root) {
  const api = join(root, 'docs/api');
  const sections = sectionsOf(root);
  const doors = sections.map(({ door }) => ({ text: door, link: `/api/${door}/` }));
  return Object.fromEntries(
    sections.map(({ door, text }) => [`/api/${door}/`, [{ text: 'Entry points', items: doors }, ...subjectsOf(api, door, text)]]),
  );
}

function subjectsOf(api, door, text) {
  return text
    .split(/^### /m)
    .map((part, nth) => ({
      text: nth === 0 ? 'Names' : part.split('\n')[0],
      items: [...part.matchAll(/^\| `(\w+)` \|/gm)].flatMap(([, name]) => {
        const page = pageOf(api, door, name);
        return page === undefined ? [] : [{ text: name, link: `/api/${page}` }];
      }),
    }))
    .filter(({ items }) => items.length > 0);
}

/** Where the page of a name is: below its entry point, or below another one that exports it first. */
function pageOf(api, door, name) {
  return [door, 'rxmux']
    .flatMap((folder) => KINDS.map((kind) => `${folder}/${kind}/${name}`))
    .find((page) => existsSync(join(api, `${page}.md`)));
}

/** The sections of the reference, one for each entry point. */
function sectionsOf(root) {
  const [, ...sections] = readFileSync(join(root, 'docs/guide/reference.md'), 'utf8').split(/^## /m);
  return sections.map((section) => {
    const [door] = section.split('\n', 1);
    return { door, text: section.slice(door.length) };
  });
}
