// Counts what a page looks like. `countLooks` runs in the page, so it refers to nothing outside of itself.

/** The least sizes of text in px, and the least contrasts of WCAG AA. `body` is a paragraph or an item of a list. */
export const LEAST = { text: 12, body: 16, contrast: 4.5, marks: 3 };

/**
 * Returns the smallest text, the smallest body text and, in drawings, the lowest contrast of texts and of marks, each with its place.
 * Pictures that are images are laid over their places first: an image shows a document that no script reads.
 */
export async function countLooks() {
  const { document, getComputedStyle, DOMParser, NodeFilter } = globalThis;
  const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const least = { text: [Infinity, ''], body: [Infinity, ''], contrast: [Infinity, ''], marks: [Infinity, ''] };
  const note = (kind, value, place) => {
    if (value < least[kind][0]) least[kind] = [Math.round(value * 100) / 100, place];
  };

  /** The red, green, blue and opacity of a CSS color, each from 0 to 1. */
  const channels = (color) => {
    const [r, g, b, a = 1] = (/^rgba?\((.+)\)$/.exec(color)?.[1].match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    return [r / 255, g / 255, b / 255, a];
  };
  const light = (color) => {
    const [r, g, b] = color.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = ([r, g, b, a], below) => [...[r, g, b].map((part, nth) => part * a + below[nth] * (1 - a)), 1];
  const ratio = (one, other) => {
    const [bright, dark] = [light(one), light(other)].sort((a, b) => b - a);
    return (bright + 0.05) / (dark + 0.05);
  };
  const inPaint = (style, kind) => {
    const [r, g, b, a] = channels(style[kind]);
    return [r, g, b, a * Number(style.opacity) * Number(style[`${kind}Opacity`])];
  };
  const groundOf = (element) => {
    const grounds = [];
    for (let at = element; at instanceof globalThis.Element; at = at.parentElement)
      grounds.push(channels(getComputedStyle(at).backgroundColor));
    return grounds.reduceRight((below, color) => over(color, below), [1, 1, 1, 1]);
  };

  const pictures = await Promise.all(
    [...document.querySelectorAll('img')].filter(shown).map(async (img) => {
      const text = await (await fetch(img.currentSrc)).text();
      const svg = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
      if (svg.tagName !== 'svg') return [];
      const { width, height } = img.getBoundingClientRect();
      const place = document.body.appendChild(document.createElement('div'));
      place.style.position = 'absolute';
      const drawing = place.attachShadow({ mode: 'open' }).appendChild(document.importNode(svg, true));
      drawing.setAttribute('width', width);
      drawing.setAttribute('height', height);
      return [{ drawing, ground: groundOf(img), name: img.alt, place }];
    }),
  );
  const drawn = [...document.querySelectorAll('svg')]
    .filter((svg) => shown(svg) && svg.querySelector('text'))
    .map((drawing) => ({ drawing, ground: groundOf(drawing.parentElement), name: drawing.getAttribute('aria-label') ?? 'drawing' }));

  for (const { drawing, ground, name } of [...pictures.flat(), ...drawn]) {
    const before = [];
    /** The color below a point: of the last filled mark there. */
    const colorAt = ({ left, top, width, height }) => {
      const [x, y] = [left + width / 2, top + height / 2];
      return before
        .filter(({ box }) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)
        .reduce((below, { fill }) => over(fill, below), ground);
    };
    for (const mark of drawing.querySelectorAll('text, rect, circle, path, line, polyline, polygon')) {
      if (!shown(mark)) continue;
      const style = getComputedStyle(mark);
      const box = mark.getBoundingClientRect();
      const [fill, stroke] = [inPaint(style, 'fill'), inPaint(style, 'stroke')];
      const below = colorAt(box);
      const place = `${name}: ${mark.tagName} ${mark.textContent || `.${mark.getAttribute('class')}`}`;
      if (mark.tagName === 'text') {
        note('text', parseFloat(style.fontSize) * mark.getScreenCTM().a, place);
        note('contrast', ratio(over(fill, below), below), place);
        continue;
      }
      // A card and the grounds of marks show nothing by themselves. The edge of a mark may stand out instead of its inside.
      const isGround = /^(card|w|p|g)\b/.test(mark.getAttribute('class') ?? '');
      const paints = [fill, stroke].filter(([, , , opacity]) => opacity > 0);
      if (!isGround && paints.length > 0) note('marks', Math.max(...paints.map((paint) => ratio(over(paint, below), below))), place);
      if (fill[3] > 0) before.push({ box, fill });
    }
  }
  for (const picture of pictures.flat()) picture.place.remove();

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const element = text.parentElement;
    if (text.data.trim() === '' || element.closest('script, style, svg, .visually-hidden') || !shown(element)) continue;
    const size = parseFloat(getComputedStyle(element).fontSize);
    const place = text.data.trim().slice(0, 40);
    note('text', size, place);
    if (element.matches('.vp-doc :is(p, li)')) note('body', size, place);
  }
  return least;
}
