// Resolves when nothing has changed for `quiet` milliseconds, which is longer than a page takes to draw, or after `most` milliseconds.
(quiet, most) => new Promise((resolve) => {
  const end = () => {
    observer.disconnect();
    clearTimeout(timer);
    clearTimeout(last);
    resolve();
  };
  let timer = setTimeout(end, quiet);
  const observer = new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(end, quiet);
  });
  const last = setTimeout(end, most);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
})
