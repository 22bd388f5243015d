// Writes docs/reference and the snapshot of the public API from the source code.
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { renderApi } from "./reference/api.mjs"
import { buildSources } from "./reference/build.mjs"
import { renderDefaults } from "./reference/defaults.mjs"
import { renderErrors } from "./reference/errors.mjs"
import { renderEvents } from "./reference/events.mjs"
import { renderFilter } from "./reference/filter.mjs"
import { renderMembers, undocumentedMembers } from "./reference/members.mjs"
import { readOptions, renderOptions } from "./reference/options.mjs"
import { renderRuns } from "./reference/runs.mjs"
import { renderSettings } from "./reference/settings.mjs"

const ROOT = new URL("../../", import.meta.url)

const PAGES = [
  { path: "docs/reference/errors.md", from: "src/errors.ts", render: renderErrors },
  { path: "docs/reference/defaults.md", from: "src/defaults.ts", render: renderDefaults },
  { path: "docs/reference/options.md", from: "the options in src", render: renderOptions },
  {
    path: "docs/reference/api.md",
    from: "the types behind src/index.ts, src/testing/index.ts and src/http/index.ts",
    render: renderMembers,
  },
  { path: "docs/reference/settings.md", from: "src/cli/settings/table.ts", render: renderSettings },
  { path: "docs/reference/events.md", from: "src/observe/events.ts", render: renderEvents },
  { path: "docs/reference/runs.md", from: "src/queue/run-state.ts", render: renderRuns },
  {
    path: "docs/reference/filter.md",
    from: "src/filter/fields.ts and src/filter/run-filter.ts",
    render: renderFilter,
  },
  {
    path: "test/api.snapshot.md",
    from: "src/index.ts, src/testing/index.ts and src/http/index.ts",
    render: renderApi,
  },
]

export async function generateReference() {
  for (const { path, text } of (await readReference()).pages) {
    const target = new URL(path, ROOT)
    await mkdir(new URL(".", target), { recursive: true })
    await writeFile(target, text)
  }
}

/** Every generated page, and the public names and members without documentation. */
export async function readReference() {
  const built = await buildSources(ROOT)
  const code = {
    /** The exports of a compiled file: `load("errors")`. */
    load: (name) => import(/* @vite-ignore */ new URL(`${name}.js`, built.folder).href),
    /** The text of a source file: `read("src/errors.ts")`. */
    read: readSource,
    /** The text of a compiled declaration file: `readTypes("job/define.ts")`. */
    readTypes: (path) => readFile(new URL(path.replace(/\.ts$/, ".d.ts"), built.folder), "utf8"),
  }
  try {
    const pages = await Promise.all(
      PAGES.map(async ({ path, from, render }) => ({
        path,
        text: `<!-- Generated from ${from} by \`npm run generate\`. Do not edit. -->\n\n${await render(code)}`,
      })),
    )
    return { pages, unsaid: await undocumentedMembers(code.readTypes) }
  } finally {
    await built.remove()
  }
}

/** Every documented option: its path, its documented default, and the name of that default. */
export async function documentedOptions() {
  const groups = await readOptions(readSource)
  return groups.flatMap(({ options }) =>
    options.map(({ path, doc, governs }) => ({ path, said: doc.default, governs })),
  )
}

function readSource(path) {
  return readFile(new URL(path, ROOT), "utf8")
}
