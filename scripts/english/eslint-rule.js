import { faultsOf } from './prose.js';

/** Marks at the edges of a comment's lines, blanked so that offsets stay. */
const MARKS = /^\s*\/\*+|\*+\/\s*$|^[^\S\n]*\*(?!\S)|\/\/|(?<=^|\n)\s*\* ?@\w+(?: \w+)?/gm;
const EXAMPLE = /@example[^]*?(?=\n\s*\* @|$)/g;
/** Several words on one line. Other literals are names, code or tables. */
const PROSE = /^(?=.*\S \S).*$/;
const blank = (text) => text.replace(/[^\n]/g, ' ');

/** Comments that stand below each other are one text. */
function* paragraphs(comments, text) {
  let run = [];
  for (const comment of comments) {
    const last = run.at(-1);
    const joins = last?.type === 'Line' && comment.type === 'Line' && /^\s*$/.test(text.slice(last.range[1], comment.range[0]));
    if (joins) run.push(comment);
    else {
      if (run.length > 0) yield run;
      run = [comment];
    }
  }
  if (run.length > 0) yield run;
}

/** The name that a chain such as `it.each(rows)` begins with, or the last one of `logger.warn`. */
function calledName({ type, callee, tag, object, name }) {
  if (type === 'Identifier') return name;
  const inner = callee ?? tag ?? object;
  return inner === undefined ? '' : calledName(inner);
}

function textOf(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  return node?.type === 'TemplateLiteral' ? node.quasis.map(({ value }) => value.cooked).join('x') : null;
}

/** Plain English in comments and in texts, such as errors, log lines and titles of tests. A title is a whole sentence without its `describe`. */
export const plainEnglish = {
  meta: { type: 'suggestion', messages: { fault: '{{ message }}' }, schema: [] },
  create({ sourceCode, report }) {
    const { text } = sourceCode;
    const check = (node, faults) => {
      for (const { message } of faults) report({ node, messageId: 'fault', data: { message } });
    };
    const checkText = (node) => {
      const prose = textOf(node);
      if (prose !== null && PROSE.test(prose)) check(node, faultsOf(prose));
    };
    return {
      Program() {
        for (const run of paragraphs(sourceCode.getAllComments(), text)) {
          const from = run[0].range[0];
          const prose = text.slice(from, run.at(-1).range[1]).replace(EXAMPLE, blank).replace(MARKS, blank);
          for (const { at, message } of faultsOf(prose))
            report({ loc: sourceCode.getLocFromIndex(from + at), messageId: 'fault', data: { message } });
        }
      },
      Literal: checkText,
      TemplateLiteral: checkText,
      'CallExpression:exit'(node) {
        const title = textOf(node.arguments[0]);
        if (['it', 'test'].includes(calledName(node.callee)) && title !== null && !/^[A-Z`$%'"]/.test(title))
          check(node.arguments[0], [{ message: 'a title that continues its describe: write a whole sentence' }]);
      },
    };
  },
};
