// Called on an element, with what is at the point of a click: nothing is in the way, or what it is.
function (hit) {
  const parent = (node) => node.assignedSlot ?? node.parentNode ?? node.host ?? null;
  const isWithin = (node, outer) => { for (let at = node; at; at = parent(at)) if (at === outer) return true; return false; };
  if (this.matches(":disabled")) return "disabled";
  if (!hit || isWithin(hit, this) || [...(this.labels ?? [])].some((label) => isWithin(hit, label))) return "";
  const element = hit.nodeType === 1 ? hit : hit.parentElement ?? hit.getRootNode().host;
  const name = element?.computedName || element?.innerText || "";
  return `${element?.localName ?? "something"}${element?.id ? "#" + element.id : ""} ${JSON.stringify(name.trim().slice(0, 60))}`;
}
