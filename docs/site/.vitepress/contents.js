/** Leaves out the list of contents with which a page begins on a code host: the site has one beside each page. */
export function withoutContents(md) {
  md.core.ruler.push('without-contents', ({ tokens }) => {
    const from = tokens.findIndex(({ type }) => type === 'bullet_list_open');
    const heading = tokens.findIndex(({ type, tag }) => type === 'heading_open' && tag === 'h2');
    if (from === -1 || from > heading) return;
    const to = tokens.findIndex(({ type, level }, index) => index > from && type === 'bullet_list_close' && level === tokens[from].level);
    const items = tokens.slice(from, to).filter(({ type }) => type === 'inline');
    if (items.every(({ children }) => children[0]?.attrGet('href')?.startsWith('#'))) tokens.splice(from, to - from + 1);
  });
}
