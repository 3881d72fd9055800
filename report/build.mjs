// SPDX-License-Identifier: MIT
// Bundles src/ into report.js and report.css of a folder, dist/ if none is named, with the licences of what is in them.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const folder = process.argv[2] ?? "dist";
const made = await build({
  entryPoints: ["src/main.ts", "src/style.css"],
  entryNames: "report",
  outdir: folder,
  bundle: true,
  minify: true,
  target: "es2022",
  charset: "ascii",
  format: "iife",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});

const packages = new Set();
for (const file of Object.keys(made.metafile.inputs)) {
  const match = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
  if (match) {
    packages.add(match[1]);
  }
}
let licences = "";
for (const name of [...packages].sort()) {
  const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  licences += `${name} ${version} (${license})\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n\n\n`;
}
writeFileSync(`${folder}/licences.txt`, licences);
