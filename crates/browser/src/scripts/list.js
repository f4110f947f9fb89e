// Makes the list in the world that keeps its function; null if none is kept yet. `clicked` and `hovered` are the browser's ids of nodes that
// listen. Unless `fresh` has those of unknown ones, whose objects come first in `objects`, it only returns { unknown }, the ids of these. The other
// objects are closed roots. As text, which the browser passes on faster than values.
(scope, clicked, hovered, fresh, ...objects) => {
  const world = globalThis[Symbol.for("pipewright")];
  if (!world?.list) return null;
  const before = world.nodes ?? new Map();
  fresh?.forEach((id, at) => before.set(id, new WeakRef(objects[at])));
  const all = [...new Set([...clicked, ...hovered])];
  world.nodes = new Map(all.filter((id) => before.get(id)?.deref()).map((id) => [id, before.get(id)]));
  const unknown = all.filter((id) => !world.nodes.has(id));
  if (unknown.length && !fresh) return JSON.stringify({ unknown });
  const nodes = (ids) => ids.map((id) => world.nodes.get(id)?.deref()).filter(Boolean);
  return JSON.stringify(world.list(scope, [...nodes(clicked), ...objects.slice(fresh?.length ?? 0)], nodes(hovered)));
}
