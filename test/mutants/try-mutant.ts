/** One mutant: does it fit, does it compile, do the unit tests let it pass, and does the checker find it? */
import { rmSync } from "node:fs"
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

const COMPILE = ["node", "node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"] as const
const UNIT_TESTS = ["--run", "--project", "unit", "--testTimeout", "60000", "--passWithNoTests"] as const
const SIM = ["node", "scripts/run-ts.mjs", "test/sim/main.ts"] as const
const CHAOS = ["node", "scripts/run-ts.mjs", "test/chaos/main.ts"] as const

export async function tryMutant(workspace: Workspace, mutant: Mutant, controls: Controls): Promise<Verdict> {
  const { breaks, edits, shownBy } = mutant
  try {
    const shown = await workspace.edited(edits, async (): Promise<Shown> => {
      const files = [...new Set(edits.map(({ file }) => file))]
      const compiled = await workspace.run(...COMPILE)
      if (compiled.code !== 0) return missed(`does not compile\n${compiled.output}`)
      const units = await workspace.run(
        "node",
        "node_modules/vitest/vitest.mjs",
        "related",
        ...files,
        ...UNIT_TESTS,
      )
      if (units.code !== 0) return missed(`the unit tests notice it\n${lastLines(units)}`)
      return show(workspace, shownBy, breaks)
    })
    if (shown.again === undefined) return shown
    const isChaos = shownBy.kind === "chaos"
    return await compare({ workspace, controls, isChaos }, shown, shown.again)
  } catch (error) {
    return missed(error instanceof Error ? error.message : String(error))
  }
}

/** With the command that shows it once more. */
type Shown = Verdict & { readonly again?: readonly [string, ...string[]] }

async function show(workspace: Workspace, workload: Workload, breaks: string): Promise<Shown> {
  if (workload.kind === "sim") {
    const { seeds } = workload
    const finished = await workspace.run(
      ...SIM,
      ...["--seeds", String(seeds), "--jobs", "1", "--until", breaks],
    )
    const line = lineAbout(finished, breaks)
    // Others may have failed before it, for another reason.
    const seed = [...finished.output.matchAll(/^seed (\d+) failed/gm)].at(-1)?.[1]
    if (line === undefined || seed === undefined) return unseen(finished, breaks, `${seeds} seeds`)
    return { found: true, says: line, by: `seed ${seed}`, again: [...SIM, "--seed", seed] }
  }
  let shown: Shown = missed("never tried")
  for (const seed of CHAOS_SEEDS) {
    const { fault, seconds } = workload
    const command = [
      ...CHAOS,
      "--fault",
      fault,
      "--seconds",
      String(seconds),
      "--seed",
      String(seed),
    ] as const
    const finished = await workspace.run(...command)
    const [line, by] = [lineAbout(finished, breaks), `${fault} with seed ${seed}`]
    if (line !== undefined) {
      discardKept(finished)
      return { found: true, says: line, by, again: command }
    }
    shown = unseen(finished, breaks, by)
  }
  return shown
}

/** What chaos keeps of a violation is for people, who have nothing to look for in this one. */
function discardKept({ output }: Finished): void {
  for (const [, folder] of output.matchAll(/^ +kept in (\S+)$/gm))
    if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** The same workloads without any mutant, each of which is run once. */
export type Controls = Map<string, Promise<Finished>>

/** What is red without the mutant as well does not show it. */
async function compare(
  { workspace, controls, isChaos }: { workspace: Workspace; controls: Controls; isChaos: boolean },
  { found, says, by }: Verdict,
  again: readonly [string, ...string[]],
): Promise<Verdict> {
  const run = async () => {
    // Real processes run what was compiled.
    if (isChaos) await workspace.run(...COMPILE)
    return workspace.run(...again)
  }
  const control = controls.get(by) ?? run()
  controls.set(by, control)
  const finished = await control
  if (finished.code === 0) return { found, says, by }
  return missed(`without the mutant ${by} is red as well\n${lastLines(finished)}`)
}

function lineAbout({ code, output }: Finished, breaks: string): string | undefined {
  const line = output.split("\n").find((each) => each.trimStart().startsWith(`${breaks} (`))
  return code === 0 ? undefined : line?.trim().slice(0, 200)
}

function unseen(finished: Finished, breaks: string, where: string): Verdict {
  const what = finished.code === 0 ? "all is green" : `it is red, but not for ${breaks}`
  return missed(`${what} with ${where}\n${lastLines(finished)}`)
}

function missed(says: string): Verdict {
  return { found: false, says, by: "" }
}

function lastLines({ output }: Finished): string {
  return output.trimEnd().split("\n").slice(-12).join("\n")
}
