// Runs the list in the world that keeps it; null if it is not kept yet. `clicked` and `hovered` are the browser's ids of nodes that listen;
// of them, those in `fresh` were not known here before: their objects come first in `objects`, then those of closed roots. As text, which
// the browser passes on faster than values.
(scope, clicked, hovered, fresh, ...objects) => {
  const world = globalThis[Symbol.for("pipewright")];
  if (!world?.list) return null;
  const before = new Map([...(world.nodes ?? []), ...fresh.map((id, at) => [id, new WeakRef(objects[at])])]);
  world.nodes = new Map([...clicked, ...hovered].filter((id) => before.has(id)).map((id) => [id, before.get(id)]));
  const nodes = (ids) => ids.map((id) => world.nodes.get(id)?.deref()).filter(Boolean);
  return JSON.stringify(world.list(scope, [...nodes(clicked), ...objects.slice(fresh.length)], nodes(hovered)));
}
