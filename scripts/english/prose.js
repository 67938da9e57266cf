/** Words of one sentence at most. */
export const MAX_SENTENCE_WORDS = 25;

/** Forms that a reader has to decode, each with what to write instead. */
const FORMS = [
  [/\bnobody\b/gi, 'name the actor, or say that none is there: "no handler", "no subscriber"'],
  [/\bwho(m)?ever\b/gi, 'name the actor: "the caller", "a subscriber"'],
  [/\b(is|are|was|were|be|been|being|isn't|aren't) told\b/gi, 'say who reports what to whom'],
  [/\btells?\b(?! apart)/gi, 'write "reports", "says" or "tells apart"'],
  [/(?<=(?:^|[.;:])\s*)(What|Who|Whatever|Whichever|Whose)\b(?![^.;]*\?)/g, 'begin with the actor, not with a clause'],
  [/\b(that|those) of\b/gi, 'use the noun again'],
  [/\b(lets?|letting) go\b/gi, 'write close, reset, release, drop, unsubscribe or dispose'],
  [/\blets\b(?! go\b)/gi, 'write "allows" or "admits", or begin with the other actor'],
  [/\b(is|are|be|gets?|got) rid of\b/gi, 'write "drops" or "releases"'],
  [/\bputs? up with\b/gi, 'write "accepts"'],
  [/\bmakes? way\b/gi, 'say what happens'],
  [/\bgives?\b/gi, 'write "returns", "sends", "emits" or "passes"'],
  [/\bso many\b/gi, 'name the amount: "the most bytes that", "the number of", "after this time"'],
  [
    /\bstop(s|ped)? to (answer|dial|listen|poll|read|receive|reconnect|retry|send|write)\b/gi,
    'write "stops answering": this says that it begins',
  ],
];

/** Code, quotations and addresses are no prose. */
const NOT_PROSE = /```[^]*?```|`[^`\n]*`|\{@\w+ [^}]*\}|"[^"\n]{1,80}"|“[^”\n]*”|https?:\/\/\S+/g;
const SENTENCE_END = /[.!?:;](?=\s|$)|\n\s*(?=\n|[-*|#>]|\d+\.)|\s\|/;

/**
 * The faults of a text: each form of the list, and each sentence of more than {@link MAX_SENTENCE_WORDS} words.
 *
 * @param {string} text prose; code in backticks is left out
 * @returns {{ at: number, message: string }[]} the offset of each fault in `text`, and what to write instead
 */
export function faultsOf(text) {
  const prose = proseOf(text);
  const faults = FORMS.flatMap(([form, hint]) =>
    [...prose.matchAll(form)].map(({ 0: found, index }) => ({ at: index, message: `"${found}": ${hint}` })),
  );
  for (const { at, words } of sentencesOf(text))
    if (words > MAX_SENTENCE_WORDS) faults.push({ at, message: `a sentence of ${words} words: write ${MAX_SENTENCE_WORDS} at most` });
  return faults.sort((a, b) => a.at - b.at);
}

/**
 * The sentences of a text, by where they begin and how many words they have. Code counts as one word.
 *
 * @param {string} text
 * @returns {{ at: number, words: number }[]}
 */
export function sentencesOf(text) {
  const sentences = [];
  let at = 0;
  for (const part of proseOf(text).split(new RegExp(`(${SENTENCE_END.source})`))) {
    const words = part.match(/[\p{L}\p{N}][^\s]*/gu)?.length ?? 0;
    if (words > 0) sentences.push({ at: at + part.search(/\S/), words });
    at += part.length;
  }
  return sentences;
}

/** The text with each letter of its code replaced, so that offsets stay. */
function proseOf(text) {
  return text.replace(NOT_PROSE, (code) => code.replace(/[^\n]/g, 'x'));
}
