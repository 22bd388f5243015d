/** Runs the project's linter, with the project's own settings, over files that are wrong on purpose. */
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ROOT } from "./sources.ts"

export interface Finding {
  readonly path: string
  /** As in `lint/suspicious/noConsole`. */
  readonly rule: string
}

/** The linter's findings about files, given as texts by their paths, in a project that holds nothing else. */
export async function lint(files: Readonly<Record<string, string>>): Promise<Finding[]> {
  // Not inside the repository: there the linter takes its own ignore file for the project's and skips the types.
  const project = await realpath(await mkdtemp(join(tmpdir(), "carillon-lint-")))
  try {
    for (const setting of ["biome.json", ".gitignore", "scripts/lint"]) {
      await cp(join(ROOT, setting), join(project, setting), { recursive: true })
    }
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(project, path)), { recursive: true })
      await writeFile(join(project, path), text)
    }
    return parseReport(await runBiome(project))
  } finally {
    await rm(project, { recursive: true, force: true })
  }
}

/** Findings make it exit with 1, which is the point. */
function runBiome(cwd: string): Promise<string> {
  const biome = join(ROOT, "node_modules/@biomejs/biome/bin/biome")
  const args = [biome, "check", "--reporter=json", "--max-diagnostics=none", "src"]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout))
  })
}

function parseReport(json: string): Finding[] {
  const report = JSON.parse(json) as {
    readonly diagnostics: readonly {
      readonly category: string
      readonly location: { readonly path: string }
    }[]
  }
  return report.diagnostics.map(({ category, location }) => ({ path: location.path, rule: category }))
}
