// The state of a page, and how often it has changed since the first call.
() => {
  releaseLateStyles(3000);
  const world = (globalThis[Symbol.for("pipewright")] ??= {});
  if (!world.observer) {
    world.changes = 0;
    world.observer = new MutationObserver((records) => {
      // Our own drawings are not changes of the page.
      world.changes += records.filter((record) => ![...record.addedNodes, ...record.removedNodes].includes(world.overlay) || !world.overlay).length;
    });
    world.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  const active = focused();
  const focus = toldOf(active);
  const media = [...document.querySelectorAll("video, audio")].find((one) => !one.paused) ?? document.querySelector("video, audio");
  const isFramed = focus && isFrame(active);
  return {
    url: location.href,
    // document.title can be shadowed by an image or a form with that name.
    title: String(document.querySelector("title")?.text ?? "").replace(/\s+/gu, " ").trim(),
    scroll: [Math.round(scrollX), Math.round(scrollY)],
    focus,
    frame: isFramed ? active.src || active.name || "" : null,
    media: media ? { playing: !media.paused && !media.ended, time: media.currentTime } : null,
    changes: world.changes,
  };
}
