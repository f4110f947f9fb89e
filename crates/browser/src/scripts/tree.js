// The flat tree: from a node to the one around it, out of slots and shadow roots. The getters are those of the prototypes, since forms
// and documents expose named elements as properties of their own.
const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
const parentOf = getter(Node, "parentNode");
const nodeTypeOf = getter(Node, "nodeType");
const slotOf = getter(Element, "assignedSlot");
const localNameOf = getter(Element, "localName");
const rootOf = (node) => Node.prototype.getRootNode.call(node);
// A node may come from another frame's global object, so instanceof does not tell. 0: it is none.
const typeOf = (object) => { try { return nodeTypeOf.call(object); } catch { return 0; } };
const isElement = (object) => typeOf(object) === Node.ELEMENT_NODE;
const isShadowRoot = (node) => typeOf(node) === Node.DOCUMENT_FRAGMENT_NODE && Boolean(node.host);
const parent = (node) => (isElement(node) && slotOf.call(node)) || parentOf.call(node) || (isShadowRoot(node) ? node.host : null);
const isWithin = (node, outer) => {
  for (let at = node; at; at = parent(at)) if (at === outer) return true;
  return false;
};
// The browser also finds pseudo-elements: as a CSSPseudoElement, or, of some kinds, as an element with a name that no page can give.
// They belong to the element whose style makes them.
const ownerOf = (hit) => {
  let at = hit;
  while (at && (!typeOf(at) || (isElement(at) && localNameOf.call(at).startsWith("::")))) at = typeOf(at) ? parent(at) : at.element;
  return at ?? document.documentElement;
};
// Whether a node is a control: of a kind that is always listed, or listening to clicks when the elements were listed.
const isOfKind = (element) => element.matches(globalThis[Symbol.for("pipewright")]?.controls ?? ":not(*)");
const isControl = (node) => {
  if (!isElement(node) || localNameOf.call(node) === "form") return false;
  return isOfKind(node) || Boolean(globalThis[Symbol.for("pipewright")]?.listening?.has(node)) || node.matches("[onclick]");
};
// For messages.
const described = (node) => {
  const [computed, text, kind, id] = ["computedName", "innerText", "localName", "id"].map((one) => member(node, one));
  const name = (computed || text || "").trim();
  return `${kind ?? "something"}${id ? "#" + id : ""} ${JSON.stringify(name.slice(0, 60))}`;
};
