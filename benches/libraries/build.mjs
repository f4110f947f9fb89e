// Bundles each page of this folder into FOLDER: node build.mjs FOLDER. The packages are in FOLDER/node_modules.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
const here = import.meta.dirname;
const to = process.argv[2];
const { build } = createRequire(join(to, "package.json"))("esbuild");
mkdirSync(join(to, "pages"), { recursive: true });
for (const file of readdirSync(here).filter((name) => /\.jsx?$/.test(name) && name !== "effects.js")) {
  const name = basename(file).replace(/\.jsx?$/, "");
  await build({
    entryPoints: [join(here, file)], bundle: true, outfile: join(to, "pages", `${name}.js`), format: "esm", minify: true, jsx: "automatic",
    nodePaths: [join(to, "node_modules")], alias: { vue: join(to, "node_modules/vue/dist/vue.esm-bundler.js") }, define: { "process.env.NODE_ENV": '"production"', "process.env": "{}", __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false" },
    loader: { ".woff": "empty", ".woff2": "empty", ".ttf": "empty", ".eot": "empty", ".svg": "empty", ".png": "empty" }, logLevel: "error",
  });
  writeFileSync(join(to, "pages", `${name}.html`), `<!doctype html><meta charset="utf-8"><title>${name}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${name}.css"><div id="root"></div><script type="module" src="${name}.js"></script>`);
}
