// Part of functions that are called on an element, or on nothing. From `guard` to `release`, a person's keys and text reach only the
// element, and only while it has the focus; anything else in this document gets none.
// A handler of these two may move the focus, and the text with it: the last listener checks again.
const KINDS = [
  ["keydown", true], ["keypress", true], ["keyup", true], ["beforeinput", true], ["beforeinput", false], ["textInput", true], ["textInput", false],
];
const guard = (element) => {
  release();
  const seen = { taken: 0, keys: 0, texts: 0 };
  const look = (event) => {
    if (!event.isTrusted) return;
    if (element && hasFocus(element)) {
      seen.taken += 1;
      return;
    }
    // The page has used the text itself, and then moved the focus: a part of a date that is complete.
    if (event.defaultPrevented && event.eventPhase === Event.BUBBLING_PHASE) return;
    if (event.type === "keydown") seen.keys += 1;
    if (event.type === "beforeinput" || event.type === "textInput") seen.texts += 1;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const [kind, isFirst] of KINDS) EventTarget.prototype.addEventListener.call(window, kind, look, isFirst);
  (globalThis[Symbol.for("pipewright")] ??= {}).guard = { look, seen };
};
const release = () => {
  const world = globalThis[Symbol.for("pipewright")];
  const { look, seen } = world?.guard ?? {};
  for (const [kind, isFirst] of look ? KINDS : []) EventTarget.prototype.removeEventListener.call(window, kind, look, isFirst);
  if (world) delete world.guard;
  return seen ?? { taken: 0, keys: 0, texts: 0 };
};
