/** Marks paragraphs that hold one picture. They scroll instead of shrinking their letters, by the keyboard too. */
export function widePictures(md) {
  md.core.ruler.push('wide-pictures', ({ tokens }) => {
    for (const [nth, { type, children }] of tokens.entries()) {
      if (type !== 'inline' || children.length !== 1 || children[0].type !== 'image') continue;
      const paragraph = tokens[nth - 1];
      paragraph.attrJoin('class', 'wide-picture');
      paragraph.attrSet('tabindex', '0');
    }
  });
}
