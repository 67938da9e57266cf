/** Whether the output shows colours: a terminal does, unless `NO_COLOR` is set. */
export function hasColours(): boolean {
  return process.stdout.isTTY && process.stdout.hasColors();
}
