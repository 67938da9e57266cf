/** The colours and the font of the canvas. The style sheet of the page declares them, for light and for dark. */
export interface Theme {
  readonly surface: string;
  readonly grid: string;
  readonly tick: string;
  readonly label: string;
  readonly line: string;
  readonly open: string;
  readonly data: string;
  readonly fragment: string;
  readonly end: string;
  readonly failed: string;
  readonly refused: string;
  readonly ping: string;
  readonly wall: string;
  readonly font: string;
}

/** Reads the theme of an element from its custom properties. */
export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const value = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    surface: value('surface'),
    grid: value('grid'),
    tick: value('faint'),
    label: value('muted'),
    line: value('line'),
    open: value('open'),
    data: value('data'),
    fragment: value('fragment'),
    end: value('end'),
    failed: value('failed'),
    refused: value('refused'),
    ping: value('ping'),
    wall: value('wall'),
    font: `11px ${style.fontFamily}`,
  };
}
