/** The longest delay that the platforms' timers can count, in ms; beyond it they fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
