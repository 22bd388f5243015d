/** Takes idempotency keys for new runs, and finds the holders of keys that are taken. */
import { DEFAULTS } from "../../defaults.ts"
import { HISTORY_CLASSES } from "../../store/attempts/history-classes.ts"
import type { Runner } from "../../store/database.ts"
import { findKeys } from "../../store/keys/find.ts"
import { takeKeys } from "../../store/keys/take.ts"
import type { NewRun } from "./new-run.ts"

/** The name of the job, and the history class that says how long history knows its runs. */
export interface KeyJob {
  readonly name: string
  readonly history: keyof typeof HISTORY_CLASSES
}

export interface KeyAnswer {
  readonly id: string
  /** Must the run be written? */
  readonly created: boolean
}

/** A holder that cannot be found has just ended, so its key is free and the next try may take it. */
const MOST_TRIES = 20

/** For each run, in order: its own id, or the holder of its key. */
export async function takeFreeKeys(
  runner: Runner,
  job: KeyJob,
  runs: readonly NewRun[],
): Promise<readonly KeyAnswer[]> {
  /** The first run of each key. Later runs of the same call get its id. */
  const first = new Map<string, NewRun>()
  for (const run of runs) if (run.key !== null && !first.has(nameOf(run))) first.set(nameOf(run), run)
  const holders = first.size === 0 ? new Map<string, string>() : await settle(runner, job, first)
  return runs.map((run) => {
    const holder = run.key === null ? run.id : (holders.get(nameOf(run)) ?? run.id)
    return { id: holder, created: holder === run.id }
  })
}

async function settle(
  runner: Runner,
  job: KeyJob,
  wanted: ReadonlyMap<string, NewRun>,
): Promise<Map<string, string>> {
  const holders = new Map<string, string>()
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const open = [...wanted.values()].filter((run) => !holders.has(nameOf(run)))
    if (open.length === 0) return holders
    const params = {
      job: job.name,
      tenants: open.map(({ tenant }) => tenant ?? ""),
      keys: open.map(({ key }) => key ?? ""),
    }
    const runs = open.map(({ id }) => id)
    const taken = await runner.run(takeKeys, {
      ...{ ...params, runs },
      forMs: open.map(({ keyFor }) => (typeof keyFor === "number" ? keyFor : null)),
      keepMs: open.map(({ keyFor }) => (keyFor === null ? rememberedMs(job) : null)),
    })
    const ours = new Set(taken.map(({ run }) => run))
    for (const run of open) if (ours.has(run.id)) holders.set(nameOf(run), run.id)
    if (ours.size === open.length) continue
    for (const { tenant, key, run } of await runner.run(findKeys, params)) {
      holders.set(nameOf({ tenant, key }), run)
    }
  }
  throw new Error("a key was taken and freed again and again, faster than it could be read")
}

/**
 * How long a key is remembered after the end of its run: as long as history knows the run, which leaves by whole days,
 * and at least as long as promised.
 */
export function rememberedMs({ history }: Pick<KeyJob, "history">): number {
  return Math.max(HISTORY_CLASSES[history].keepMs + DAY_MS, DEFAULTS.keyLeastMs)
}

const DAY_MS = 86_400_000

function nameOf({ tenant, key }: { readonly tenant: string | null; readonly key: string | null }): string {
  return JSON.stringify([tenant ?? "", key])
}
