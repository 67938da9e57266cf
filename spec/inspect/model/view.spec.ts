import { describe, expect, it } from '@jest/globals';
import { LONGEST_MS, tickMs, View } from '../../../examples/inspector/model/view.js';

describe('the view', () => {
  it('It follows the present until it is paused or moved', () => {
    const view = new View();
    expect(view.endAt(5_000)).toBe(5_000);
    view.pause(5_000);
    expect(view.endAt(9_000)).toBe(5_000);
    view.follow();
    expect(view.endAt(9_000)).toBe(9_000);
  });

  it('It moves back as far as there is something to see, and follows again at the present', () => {
    const view = new View();
    view.moveBy(-20_000, 60_000, 30_000);
    expect(view.endAt(61_000)).toBe(40_000);
    view.moveTo(0, 60_000, 30_000);
    expect(view.endAt(61_000)).toBe(40_000);
    view.moveTo(61_000, 61_000);
    expect(view.follows).toBe(true);
  });

  it('It zooms around a place that stays', () => {
    const view = new View();
    view.pause(20_000);
    const middle = view.endAt(0) - view.span / 2;
    view.zoom(0.5, 30_000, 0.5);
    expect([view.span, view.endAt(0) - view.span / 2]).toEqual([5_000, middle]);
    view.zoom(1e9, 30_000);
    expect(view.span).toBe(LONGEST_MS);
  });

  it.each([
    [1_000, 100],
    [10_000, 1_000],
    [60_000, 10_000],
    [600_000, 60_000],
  ])('Ten ticks at most share %i ms', (span, expected) => {
    expect(tickMs(span, 10)).toBe(expected);
  });
});
