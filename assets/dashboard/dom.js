/** Small help with the document. */
export const byId = (id) => document.getElementById(id);

export function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className !== undefined) made.className = className;
  return made;
}

/** An element around others; strings become text. */
export function holding(name, children, className) {
  const made = element(name, undefined, className);
  made.append(...children);
  return made;
}

/** Leaves what is the same alone: a selection in it stays, and no screen reader repeats it. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
