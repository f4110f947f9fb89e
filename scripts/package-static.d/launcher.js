#!/usr/bin/env node
// Runs a command of pipewright from the package for this platform: `npx pipewright mcp-pipe ...`.
"use strict";
const { spawn } = require("node:child_process");
const { readdirSync } = require("node:fs");
const { constants } = require("node:os");
const path = require("node:path");

const usageError = (text) => {
  process.stderr.write(`pipewright: ${text}\n`);
  process.exit(2);
};

const platformPackage = `pipewright-${process.platform}-${process.arch}`;
let folder;
try {
  folder = path.join(path.dirname(require.resolve(`${platformPackage}/package.json`)), "bin");
} catch {
  usageError(`the package ${platformPackage} is not installed; pipewright runs on Linux, x64 and arm64`);
}
const commands = readdirSync(folder);
const [name, ...rest] = process.argv.slice(2);
if (!commands.includes(name)) {
  usageError(`${name ? `there is no command ${name}` : "usage: pipewright COMMAND [ARGS...]"}; commands: ${commands.join(", ")}`);
}

// The commands start each other by name.
const env = { ...process.env, PATH: `${folder}${path.delimiter}${process.env.PATH ?? ""}` };
const child = spawn(path.join(folder, name), rest, { stdio: "inherit", env });
process.on("SIGTERM", () => child.kill("SIGTERM"));
// A terminal sends these to the command as well.
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});
child.on("error", (error) => usageError(`${name} could not be started: ${error.message}`));
child.on("exit", (status, signal) => process.exit(status ?? 128 + constants.signals[signal]));
