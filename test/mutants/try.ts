/** One mutant: does it fit, does it compile, do the unit tests let it pass, and does the checker find it? */
import type { Mutant, Workload } from "./mutant.ts"
import type { Finished, Workspace } from "./workspace.ts"

export interface Verdict {
  readonly found: boolean
  /** What showed it, or what is wrong. */
  readonly says: string
  /** The workload that showed it, as in "seed 17" or "F13 with seed 2". */
  readonly by: string
}

/** Real processes are never quite alike: a fault is tried with as many seeds. */
const CHAOS_SEEDS = [1, 2, 3]

export async function tryMutant(workspace: Workspace, mutant: Mutant): Promise<Verdict> {
  const { breaks, edits, shownBy } = mutant
  return workspace
    .edited(edits, async () => {
      const files = [...new Set(edits.map(({ file }) => file))]
      const compiled = await workspace.run("npx", "tsc", "-p", "tsconfig.build.json")
      if (compiled.code !== 0) return missed(`does not compile\n${compiled.output}`)
      const units = await workspace.run(
        "npx",
        ...["vitest", "related", ...files, "--run", "--project", "unit", "--passWithNoTests"],
      )
      if (units.code !== 0) return missed(`the unit tests notice it\n${lastLines(units)}`)
      return show(workspace, shownBy, breaks)
    })
    .catch((error: unknown) => missed(error instanceof Error ? error.message : String(error)))
}

async function show(workspace: Workspace, workload: Workload, breaks: string): Promise<Verdict> {
  if (workload.kind === "sim") {
    const { seeds } = workload
    const finished = await workspace.run(
      "node",
      ...[
        "scripts/run-ts.mjs",
        "test/sim/main.ts",
        "--seeds",
        String(seeds),
        "--jobs",
        "1",
        "--until",
        breaks,
      ],
    )
    return judge(finished, breaks, `${seeds} seeds`)
  }
  let verdict = missed("never tried")
  for (const seed of CHAOS_SEEDS) {
    const { fault, seconds } = workload
    const finished = await workspace.run(
      "node",
      ...["scripts/run-ts.mjs", "test/chaos/main.ts"],
      ...["--fault", fault, "--seconds", String(seconds), "--seed", String(seed)],
    )
    verdict = judge(finished, breaks, `${fault} with seed ${seed}`)
    if (verdict.found) break
  }
  return verdict
}

function judge(finished: Finished, breaks: string, where: string): Verdict {
  const line = finished.output.split("\n").find((each) => each.includes(`${breaks} (`))
  const seed = /^seed (\d+) failed(?![\s\S]*^seed \d+ failed)/m.exec(finished.output)?.[1]
  if (finished.code !== 0 && line !== undefined)
    return { found: true, says: line.trim().slice(0, 200), by: seed === undefined ? where : `seed ${seed}` }
  const what = finished.code === 0 ? "all is green" : `it is red, but not for ${breaks}`
  return missed(`${what} with ${where}\n${lastLines(finished)}`)
}

function missed(says: string): Verdict {
  return { found: false, says, by: "" }
}

function lastLines({ output }: Finished): string {
  return output.trimEnd().split("\n").slice(-12).join("\n")
}
