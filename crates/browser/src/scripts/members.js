// A member of an element or another node. Those of a form are hidden by its fields with such names, so its prototype is asked.
const member = (node, name) => (node instanceof Element && !(node instanceof HTMLFormElement) ? node[name] : Reflect.get(Object.getPrototypeOf(node), name, node));
const call = (node, name, ...given) => member(node, name).apply(node, given);
