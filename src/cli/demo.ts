/** `carillon demo`: runs a few jobs on the embedded server, and prints what happens until Ctrl-C. */
import { type Carillon, createCarillonOn } from "../api/carillon.ts"
import type { CarillonEvent } from "../observe/events.ts"
import type { Host } from "../runtime/host.ts"
import type { Terminal } from "../runtime/terminal.ts"
import type { Command, CommandCall } from "./command.ts"
import { createDemoJobs, type DemoJob } from "./demo-jobs.ts"
import { DATABASE_SETTINGS, databaseOptionsOf } from "./settings/database.ts"

const ROUND_MS = 2_000

export const demo: Command = {
  words: "demo",
  summary: "run a few demo jobs on the embedded server until Ctrl-C",
  settings: DATABASE_SETTINGS,
  run,
}

async function run(call: CommandCall): Promise<void> {
  const { host, terminal } = call
  const jobs = createDemoJobs(host)
  const options = databaseOptionsOf(await call.readSettings())
  const story = createStory(host, terminal)
  const carillon = createCarillonOn(host, {
    ...options,
    jobs: jobs.map(({ job }) => job),
    logger: story.logger,
  })
  carillon.subscribe(story.tell)
  const interrupted = new AbortController()
  // One Ctrl-C may arrive twice: from the terminal and from npm. The stop has deadlines of its own.
  terminal.onInterrupt(() => interrupted.abort())
  try {
    await carillon.start()
    introduce(terminal, carillon, { jobs, database: options.database })
    await enqueueRounds(host, carillon, jobs, interrupted.signal, story.tellError)
    terminal.print("\nStopping: no new runs, handlers may finish ...")
  } finally {
    await carillon.stop({ grace: "5s" })
  }
  terminal.print(story.summary())
}

function introduce(
  terminal: Terminal,
  carillon: Carillon,
  { jobs, database }: { readonly jobs: readonly DemoJob[]; readonly database: string | undefined },
): void {
  terminal.print(`Carillon is running on ${nameOf(carillon, database)}`)
  for (const { job, about } of jobs) terminal.print(`  ${job.name.padEnd(8)} ${about}`)
  terminal.print("Ctrl-C stops it.\n")
}

function nameOf(carillon: Carillon, database: string | undefined): string {
  const url = carillon.url()
  if (url !== undefined) return `its embedded PostgreSQL:\n  ${url}`
  return database === undefined || database === "pglite"
    ? "PGlite, in its data folder."
    : "your PostgreSQL server."
}

async function enqueueRounds(
  host: Host,
  carillon: Carillon,
  jobs: readonly DemoJob[],
  interrupted: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  for (let round = 0; !interrupted.aborted; round += 1) {
    const due = jobs.filter(({ everyRounds }) => round % everyRounds === 0)
    for (const { job } of due) await carillon.enqueue(job).catch((error: unknown) => onError(error))
    await host.sleep(ROUND_MS, interrupted)
  }
}

/** Prints one line for each event that a reader cares about, and counts. */
function createStory(host: Host, terminal: Terminal) {
  const startMs = host.monotonicMs()
  const counts = new Map<string, number>()
  const line = (text: string) => {
    const seconds = ((host.monotonicMs() - startMs) / 1_000).toFixed(1)
    terminal.print(`${seconds.padStart(7)} s  ${text}`)
  }
  const silent = () => {}
  return {
    tell: (event: CarillonEvent) => {
      const text = describeEvent(event)
      if (text !== undefined) line(text)
      if (event.type === "attempt.finished") counts.set(event.runState, (counts.get(event.runState) ?? 0) + 1)
    },
    tellError: (error: unknown) =>
      line(`could not enqueue: ${error instanceof Error ? error.message : error}`),
    // The demo prints everything itself.
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    summary: () => {
      const succeeded = counts.get("succeeded") ?? 0
      const retried = (counts.get("waiting") ?? 0) + (counts.get("ready") ?? 0)
      const dead = counts.get("dead") ?? 0
      return `Stopped. Succeeded: ${succeeded}. Tried again: ${retried}. Dead letters: ${dead}.`
    },
  }
}

function describeEvent(event: CarillonEvent): string | undefined {
  switch (event.type) {
    case "attempt.started":
      return `${event.job.padEnd(8)} attempt ${event.attempt} started    ${shortId(event.run)}`
    case "attempt.finished": {
      const took = `in ${Math.round(event.durationMs)} ms`
      const why = event.error ? `: ${event.error.message}` : ""
      const next = { waiting: ", will be tried again", ready: ", given back", dead: ", is now a dead letter" }
      const then = event.runState in next ? next[event.runState as keyof typeof next] : ""
      const what = `${event.job.padEnd(8)} attempt ${event.attempt} ${event.outcome.padEnd(9)}`
      return `${what}  ${shortId(event.run)} ${took}${then}${why}`
    }
    case "schema.migrated":
      return `schema ${event.schema} created, version ${event.versions.at(-1)}`
    case "lease.lost":
      return `lease lost, ${event.runs} attempts aborted`
    case "lease.reaped":
      return `${event.runs} runs taken back from a dead worker`
    case "loop.failed":
      return `${event.loop} failed and goes on: ${event.error instanceof Error ? event.error.message : event.error}`
    default:
      return undefined
  }
}

/** The end of a run's id. The beginning is the time, which all runs share. */
function shortId(run: string): string {
  return `…${run.slice(-8)}`
}
