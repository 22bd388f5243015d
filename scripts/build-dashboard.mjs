// Builds the dashboard to dist/dashboard, unless the files there are newer than its sources.
import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "vite"

const ROOT = fileURLToPath(new URL("../", import.meta.url))
const SOURCE = join(ROOT, "src/dashboard")
const TARGET = join(ROOT, "dist/dashboard")

if (!isFresh()) {
  await build({
    root: SOURCE,
    configFile: false,
    logLevel: "warn",
    // Relative addresses, so that one build works below any path.
    base: "./",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: TARGET,
      emptyOutDir: true,
      // A small asset inlined as a data: URL would need a weaker Content-Security-Policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: "es2022",
      license: { fileName: "licenses.md" },
    },
  })
}

function isFresh() {
  const built = join(TARGET, "index.html")
  if (!existsSync(built)) return false
  const builtAt = statSync(built).mtimeMs
  return [...filesBelow(SOURCE), join(ROOT, "package-lock.json"), fileURLToPath(import.meta.url)].every(
    (file) => statSync(file).mtimeMs < builtAt,
  )
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
}
