// The readable text of a frame, as lines: headings with "#", items with "-" or their number, table rows with " | " between the
// cells. `summary` is the beginning of the main part. The walk ends after `most` characters or `time` milliseconds (`isCut`).
(most, time, summaryMost) => {
  const stats = { links: 0, headings: 0, images: 0, forms: 0 };
  const found = { title: String(document.querySelector("title")?.text ?? "").replace(/\s+/gu, " ").trim(), url: location.href, text: "", summary: "", isCut: false, stats };
  // An invisible frame, such as one that counts visitors.
  if (innerWidth < 10 || innerHeight < 10 || !document.body) return found;

  const SILENT = new Set(["script", "style", "noscript", "template", "head", "math", "canvas", "iframe", "object", "video", "audio", "datalist", "map"]);
  const HEADINGS = { h1: "# ", h2: "## ", h3: "### ", h4: "#### ", h5: "##### ", h6: "###### " };
  const DEPTH = 1000;
  const end = performance.now() + time;
  const lines = [];
  const mainLines = [];
  let total = 0;
  let mainTotal = 0;
  let visited = 0;
  let line = "";
  // The prefix of the next line, and that of the lines after it.
  let first = "";
  let indent = "";
  let cells = 0;
  let isMain = false;

  const flush = () => {
    if (cells) {
      if (line && !line.endsWith(" ")) line += " ";
      return;
    }
    const text = line.trimEnd();
    line = "";
    if (!text) return;
    const whole = first + text;
    first = indent;
    lines.push(whole);
    total += whole.length + 1;
    if (isMain && mainTotal < summaryMost * 2) {
      mainLines.push(whole);
      mainTotal += whole.length + 1;
    }
  };
  const add = (text) => {
    if (text.length > most - total) {
      found.isCut = true;
      text = text.slice(0, most - total);
    }
    const plain = text.replace(/\s+/gu, " ");
    line += line === "" || line.endsWith(" ") ? plain.trimStart() : plain;
  };
  const addLines = (text) => {
    for (const part of text.split("\n")) {
      if (part.length > most - total) found.isCut = true;
      line += part.slice(0, Math.max(0, most - total)).trimEnd();
      flush();
      if (total >= most) return;
    }
  };
  const isOver = () => {
    if (total + line.length >= most || (++visited % 256 === 0 && performance.now() > end)) found.isCut = true;
    return found.isCut;
  };

  const landmark = document.querySelector("main:not([hidden]), [role=main]") ?? document.querySelector("article");
  const SECTIONS = "article, aside, main, nav, section";
  // Elements that are not part of the main text.
  const isAround = (element, style) => {
    const role = call(element, "getAttribute", "role");
    if (["navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog"].includes(role)) return true;
    switch (member(element, "localName")) {
      case "nav": case "aside": case "dialog": return true;
      case "header": case "footer": return !(element.parentElement && call(element.parentElement, "closest", SECTIONS));
      default: return style.position === "fixed" || style.position === "sticky";
    }
  };
  // A layout table is read like ordinary elements. Each table is checked once, not once per row.
  const tables = new Map();
  const isTable = (table) => {
    if (!tables.has(table)) {
      tables.set(table, !["presentation", "none"].includes(table.getAttribute("role")) && !table.querySelector("table, h1, h2, h3, ul, ol, form"));
    }
    return tables.get(table);
  };
  const numbers = new Map();
  const number = (list) => {
    numbers.set(list, (numbers.get(list) ?? list.start - 1) + 1);
    return numbers.get(list);
  };

  const children = (element, depth) => {
    const isFilled = member(element, "localName") === "slot" && element.assignedNodes().length;
    const nodes = isFilled ? element.assignedNodes() : member(member(element, "shadowRoot") ?? element, "childNodes");
    for (let index = 0; index < nodes.length && !isOver(); index++) visit(nodes[index], depth + 1);
  };
  const visit = (node, depth) => {
    const type = member(node, "nodeType");
    if (type === 3) return add(node.data);
    if (type !== 1 || depth > DEPTH) return undefined;
    const name = member(node, "localName");
    if (SILENT.has(name)) return undefined;
    const style = getComputedStyle(node);
    if (style.display === "none" || style.opacity === "0") return undefined;
    // Text only for screen readers.
    if (style.position === "absolute" && (member(node, "offsetWidth") <= 1 || member(node, "offsetHeight") <= 1) && style.overflow === "hidden") return undefined;
    if (style.visibility !== "visible" && !member(node, "childElementCount")) return undefined;
    if (name === "br") return flush();
    if (name === "img") {
      stats.images += 1;
      return undefined;
    }
    if (name === "svg") {
      const drawn = node.querySelectorAll("text:not(defs *, symbol *), foreignObject");
      for (const text of drawn) if (!isOver() && call(text, "checkVisibility", { opacityProperty: true })) visit(text, depth + 1);
      return undefined;
    }
    if (name === "input") {
      if (["button", "submit", "reset"].includes(node.type)) add(` ${node.value} `);
      return undefined;
    }
    // A list has only the beginning of it.
    if (name === "textarea") {
      if (isSecret(node)) return undefined;
      flush();
      return cells ? add(` ${node.value} `) : addLines(node.value);
    }
    if (name === "select") return add(` ${node.selectedOptions[0]?.label ?? ""} `);
    if (name === "a" && node.hasAttribute("href")) stats.links += 1;
    if (name === "form") stats.forms += 1;

    const before = { first, indent, isMain };
    const isInline = style.display.startsWith("inline") || style.display === "contents";
    const isCell = (name === "td" || name === "th") && cells;
    if (isCell) {
      if (line.trim()) line = `${line.trimEnd()} | `;
    } else if (!isInline) flush();
    if (node === landmark) isMain = true;
    else if (isMain && isAround(node, style)) isMain = false;
    else if (!landmark && node === document.body) isMain = true;

    if (HEADINGS[name] || call(node, "getAttribute", "role") === "heading") {
      stats.headings += 1;
      if (!cells) first = indent + (HEADINGS[name] ?? HEADINGS[`h${member(node, "ariaLevel")}`] ?? "## ");
      children(node, depth);
    } else if (name === "li" && !cells) {
      const list = node.parentElement;
      const mark = list?.localName === "ol" ? `${number(list)}. ` : "- ";
      first = indent + mark;
      indent += "  ";
      children(node, depth);
    } else if (name === "blockquote" && !cells) {
      first = indent += "> ";
      children(node, depth);
    } else if (name === "pre" && !cells) {
      addLines(node.innerText);
    } else if (name === "tr" && cells === 0 && isTable(node.closest("table") ?? node)) {
      cells = 1;
      children(node, depth);
      cells = 0;
    } else if (name === "details" && !node.open) {
      for (const child of node.children) if (child.localName === "summary") visit(child, depth + 1);
    } else children(node, depth);

    // After an inline element the line continues; only a block ends it.
    if (!isInline && !isCell) flush();
    if (isInline && before.isMain !== isMain) flush();
    ({ first, indent, isMain } = isInline ? { ...before, first } : before);
    return undefined;
  };
  visit(document.body, 0);
  flush();
  found.text = lines.join("\n");
  const short = (mainLines.length ? mainLines : lines.slice(0, summaryMost)).join("\n");
  found.summary = short.length <= summaryMost ? short : `${short.slice(0, summaryMost).replace(/\s+\S*$/u, "")} …`;
  return found;
}
