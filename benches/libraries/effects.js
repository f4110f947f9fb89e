// The controls of a page, by names of our own, and which of them have had an effect. Both are reported to the server.
const report = (kind, name) => void (new Image().src = `/report?${new URLSearchParams({ kind, name, page: document.title })}`);
const seen = new Set();
export const declare = (...names) => names.forEach((name) => report("control", name));
export const hit = (name) => {
  if (!seen.has(name)) report("effect", name);
  seen.add(name);
};
export const effect = (name) => () => hit(name);
