// From `armDeal` to `disarmDeal`, a person's click or key reaches the page only while the text around an element is the one that was
// compared: a page may change in the moment between the comparison and the click.
const DEAL_KINDS = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "keydown", "keypress", "keyup", "submit"];
// What may act; the others follow one of these.
const DEAL_CHECKED = ["pointerdown", "click", "keydown", "submit"];
const RUNNING = /\d+(?::\d\d)+|\d+\s?(?:s|secs?|seconds?|mins?|minutes?|sek\p{L}*|сек\p{L}*|мин\p{L}*|秒|分|초)(?!\p{L})/giu;
// Returns "" if the text is there. `at` is the place of its part among those around the element; -1 is the whole frame.
const armDeal = (number, at, expected) => {
  disarmDeal();
  const world = globalThis[Symbol.for("pipewright")];
  const still = (lines) => lines.map(([text]) => text).join(" ").replace(RUNNING, "0");
  const [{ lines, targets: [target] }] = world.readDeals([number]);
  const part = at < 0 ? { lines: { start: 0, end: lines.length }, element: document.body } : target?.around[at];
  if (!target || !part) return "changed";
  const without = (lines, from, { start, end }) => lines.filter((_, index) => index + from < start || index + from >= end);
  const texts = without(lines.slice(part.lines.start, part.lines.end), part.lines.start, target.own);
  if (still(texts) !== expected.replaceAll("\n", " ").replace(RUNNING, "0")) return "changed";
  // From here on, only the part is read.
  const read = () => {
    const [{ lines, targets: [own] }] = world.readDeals([number], part.element);
    return own?.element === target.element ? still(without(lines, 0, own.own)) : null;
  };
  const before = read();
  const isSame = () => before !== null && read() === before;
  const seen = { isKept: false, hasBegun: false, hasPassed: false };
  const look = (event) => {
    if (!event.isTrusted) return;
    const isChecked = DEAL_CHECKED.includes(event.type);
    if (isChecked && !seen.isKept && !isSame()) seen.isKept = true;
    if (seen.isKept) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (event.type === "click" || event.type === "submit") seen.hasPassed = true;
    else if (isChecked) seen.hasBegun = true;
  };
  for (const kind of DEAL_KINDS) EventTarget.prototype.addEventListener.call(window, kind, look, true);
  world.dealGuard = { look, seen };
  return "";
};
// Returns "kept" if nothing was pressed because the text had changed; "late" if it changed after the press had begun, so that the page got
// that, but no click.
const disarmDeal = () => {
  const world = globalThis[Symbol.for("pipewright")];
  const { look, seen } = world?.dealGuard ?? {};
  for (const kind of look ? DEAL_KINDS : []) EventTarget.prototype.removeEventListener.call(window, kind, look, true);
  if (world) delete world.dealGuard;
  return !seen?.isKept || seen.hasPassed ? "" : seen.hasBegun ? "late" : "kept";
};
