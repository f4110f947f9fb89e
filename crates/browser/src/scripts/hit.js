// Called on an element, with what is at the point of a click. Returns "" if nothing covers it, "disabled", or a description of
// the covering element. `isPress`: a control inside the element also counts as covering it.
function (found, isPress) {
  const hit = ownerOf(found);
  const isOther = (at) => {
    if (at === this || at === this.control || !isControl(at)) return false;
    const name = named(at);
    // An element with the same name does the same; an image that listens is part of its button.
    if (name && name === named(this)) return false;
    return isOfKind(at) || Boolean(name) || !this.matches("button,a[href],summary,[role=button],[role=link]");
  };
  const inner = (outer) => { for (let at = hit; at && at !== outer; at = parent(at)) if (isOther(at)) return at; return null; };
  if (this.matches(":disabled")) return "disabled";
  const outer = [this, ...(this.labels ?? [])].find((one) => isWithin(hit, one));
  const before = outer ? isPress && inner(outer) : hit;
  return before ? described(before) : "";
}
