const BUTTONS = [
  ['upload', 'Upload 1.5 MiB'],
  ['request', 'Ask'],
  ['goaway', 'Server: goaway'],
  ['cut', 'Cut the line'],
];

/** The controls of the playground: a search box, and a button for each act. */
export function toolbar(document, acts) {
  const bar = document.createElement('div');
  bar.className = 'acts';
  const search = document.createElement('input');
  search.placeholder = 'Type: switchMap cancels the search before';
  search.setAttribute('aria-label', 'Search');
  search.addEventListener('input', () => acts.type(search.value));
  bar.append(search, ...BUTTONS.map(([name, text]) => button(document, text, acts[name])));
  return bar;
}

function button(document, text, act) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.addEventListener('click', act);
  return made;
}
