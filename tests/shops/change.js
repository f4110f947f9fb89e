// Asks for the change that the test wants, applies it, and says when it can be seen.
const look = async () => {
  const kind = await (await fetch("/change")).text();
  if (!kind) return setTimeout(look, 20);
  changes[kind]();
  // Until the next drawing, of the frames as well.
  return setTimeout(() => fetch("/changed").then(look), 120);
};
look();
