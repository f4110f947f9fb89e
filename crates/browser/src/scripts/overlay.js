// Draws the numbers of elements over them, for a picture or a person: on top of everything, transparent to clicks, and hidden
// from the page's scripts except for one element. Returns how many it has drawn. Without badges, it only removes earlier ones.
(badges, isHighContrast) => {
  const world = (globalThis[Symbol.for("pipewright")] ??= {});
  world.overlay?.remove();
  world.overlay = null;
  const drawn = [];
  for (const [number, index] of badges) {
    const element = world.elements?.get(number)?.deref();
    if (!element?.isConnected) continue;
    const box = (element.labels?.length && !element.checkVisibility({ opacityProperty: true }) ? element.labels[0] : element).getBoundingClientRect();
    if (box.bottom <= 0 || box.right <= 0 || box.top >= innerHeight || box.left >= innerWidth) continue;
    drawn.push([index, box]);
  }
  if (!drawn.length) return 0;
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "closed" });
  const place = (element, css) => {
    element.style.cssText = css;
    root.append(element);
  };
  for (const [index, box] of drawn) {
    const colour = isHighContrast ? "#ffeb00" : ["#b3005e", "#00509e", "#006b3c", "#7a3e00", "#5b2c83"][index % 5];
    const frame = document.createElement("div");
    place(frame, `position:fixed;box-sizing:border-box;border:2px solid ${colour};left:${box.left}px;top:${box.top}px;width:${box.width}px;height:${box.height}px`);
    const badge = document.createElement("div");
    badge.textContent = index;
    const x = Math.max(0, Math.min(box.left, innerWidth - 24));
    const y = Math.max(0, Math.min(box.top - 14, innerHeight - 16));
    place(badge, `position:fixed;left:${x}px;top:${y}px;padding:0 3px;background:${colour};color:${isHighContrast ? "#000" : "#fff"};font:bold 12px/15px monospace;border-radius:3px`);
  }
  host.style.cssText = "all:initial;position:fixed;inset:0;margin:0;padding:0;border:0;width:auto;height:auto;background:none;pointer-events:none;overflow:visible;z-index:2147483647";
  document.documentElement.append(host);
  // Also above dialogs of the page.
  host.popover = "manual";
  host.showPopover?.();
  world.overlay = host;
  return drawn.length;
}
