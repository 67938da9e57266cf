/** Files outside of docs/ whose pages have other names. Other pages of the root have the names of their files. */
const RENAMED = { 'README.md': 'start.md', LICENSE: 'start.md' };

/** The path of a file's page on the site, if the file has one. */
export function toPage(file) {
  return (
    RENAMED[file] ?? (/^docs\/.+\.md$/.test(file) ? file.slice('docs/'.length) : /^\w+\.md$/.test(file) ? file.toLowerCase() : undefined)
  );
}
