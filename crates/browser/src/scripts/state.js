// What a page is like now, and how often it has changed since this ran first.
() => {
  const world = globalThis;
  if (!world.observer) {
    world.changes = 0;
    world.observer = new MutationObserver((records) => {
      // What we draw is no change of the page.
      world.changes += records.filter((record) => ![...record.addedNodes, ...record.removedNodes].includes(world.overlay) || !world.overlay).length;
    });
    world.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  const isFocused = focused && focused !== document.body && focused !== document.documentElement;
  const media = [...document.querySelectorAll("video, audio")].find((one) => !one.paused) ?? document.querySelector("video, audio");
  const isFrame = isFocused && ["iframe", "frame"].includes(focused.localName);
  return {
    url: location.href,
    title: document.title,
    scroll: [Math.round(world.scrollX), Math.round(world.scrollY)],
    focus: isFocused ? { role: roleOf(focused) || focused.localName, name: shortened(nameOf(focused)) } : null,
    frame: isFrame ? focused.src || focused.name : null,
    media: media ? { playing: !media.paused && !media.ended, time: media.currentTime } : null,
    changes: world.changes,
  };
}
