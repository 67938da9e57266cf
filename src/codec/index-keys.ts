// V8 keeps the values of keys that are indices in an array, with a place for every index below the highest: `{ 1023: null }`
// would take 12 KiB. To set and delete the highest index of all switches an object to V8's dictionary mode for them, for good.
const HIGHEST_INDEX = 2 ** 32 - 2;
const [DIGIT_0, DIGIT_9] = [0x30, 0x39];
/** Places for each key that an object may keep free; dictionary mode takes some more than that. */
const MOST_PLACES = 4;

/** An empty object in dictionary mode: it reserves nothing for the indices it is given. */
export function emptyDictionary(): Record<string, unknown> {
  return asDictionary({});
}

/** Whether a key may be an index; some that are none begin with a digit too. */
export function mayBeIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= DIGIT_0 && first <= DIGIT_9;
}

/** Gives an object that has a key which may be an index back, without the places that it has reserved for others. */
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
