// V8 keeps the values of index keys in an array, with a place for every index below the highest: `{ 1023: null }` would take 12 KiB.
// Setting and deleting the highest possible index switches the indices of an object to V8's dictionary mode for good.
const HIGHEST_INDEX = 2 ** 32 - 2;

/** The places for each key that an object may keep free. Dictionary mode takes slightly more than that. */
const MOST_PLACES = 4;

/** Returns an empty object in dictionary mode: it reserves no places for other indices. */
export function emptyDictionary(): Record<string, unknown> {
  return asDictionary({});
}

/** Returns an object that has a possible index key, without the places that it reserved for other indices. */
export function withoutHoles(object: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(object);
  const isDense = Number(keys[keys.length - 1]) < MOST_PLACES * keys.length;
  return isDense || Object.hasOwn(object, HIGHEST_INDEX) ? object : asDictionary(object);
}

function asDictionary(object: Record<string, unknown>): Record<string, unknown> {
  object[HIGHEST_INDEX] = null;
  Reflect.deleteProperty(object, HIGHEST_INDEX);
  return object;
}
