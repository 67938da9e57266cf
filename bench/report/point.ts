/** One point of a plot. In a dot plot, `x` names the figure and `y` is its value. */
export interface Point {
  readonly series: string;
  readonly x: number | string;
  readonly y: number;
}
