/** The longest delay that the platforms' timers can count, in ms. Timers with a longer delay fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
