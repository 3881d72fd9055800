// SPDX-License-Identifier: MIT
// Runs tests/ on the modules of src/ whose results need no browser. Needs `npm ci`; the exit code is 77 without it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const esbuild = await import("esbuild").catch(() => null);
if (esbuild === null) {
  console.log("skipped: npm ci has not been run in report/");
  process.exit(77);
}
const here = import.meta.dirname;
const folder = mkdtempSync(join(tmpdir(), "tessera-report-"));
try {
  await esbuild.build({
    absWorkingDir: here,
    entryPoints: ["src/format.ts", "src/axis.ts", "src/data.ts", "src/recording.ts", "src/table.ts", "src/dom.ts", "src/timeline/states.ts", "src/timeline/picture.ts",
      "src/run/slots.ts", "src/run/steps.ts", "src/run/roofline.ts", "src/store/store.ts", "src/charts/bars.ts", "src/charts/changes.ts", "src/charts/heat.ts", "src/charts/lines.ts", "src/charts/points.ts", "src/charts/tiles.ts"],
    outbase: "src", outdir: folder, outExtension: { ".js": ".mjs" }, bundle: true, splitting: true, format: "esm", target: "es2022", logLevel: "warning",
  });
  const done = spawnSync(process.execPath, ["--test", join(here, "tests")], { stdio: "inherit", env: { ...process.env, MODULES: folder } });
  process.exitCode = done.status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
