/** Runs that a worker held when it was cut off or suspended, and what happened to them. */
import { join } from "node:path"
import { readHistory } from "../support/history/read-history.ts"
import { violationText } from "../support/history/violation-text.ts"
import type { Member, World } from "./world.ts"

export interface Held {
  readonly by: Member
  readonly run: string
  readonly claim: string
  /** When the worker became unreachable, and how long after that it may have taken to tell its handler. */
  readonly cut?: { readonly atNs: bigint; readonly withinMs: number }
}

const PATIENCE_MS = 20_000
/**
 * So urgent that it starts at once, and so long that its handler still runs when the worker hears that it lost the
 * run.
 */
const LONG = { job: "stubborn", input: { ms: 7_000 }, settings: { priority: 10 } }
/** From the claim to the first line of the handler, on a busy machine. */
const BEGIN_MS = 300

/** Enqueues long runs until a worker under attack holds one of them. */
export async function takeHold(world: World, victims: readonly Member[]): Promise<Held> {
  const [producer] = world.producers()
  const s = `"${world.schema}"`
  let held: Held | undefined
  await world.until(async () => {
    const run = await producer?.call<string | undefined>("enqueue", LONG)
    await world.until(async () => {
      const [row] = await world.talk.ask(
        `select pid, claim::text as claim from ${s}.runs join ${s}.workers using (lease)
         where id = $1`,
        [run],
      )
      const by = victims.find(({ pid }) => pid === Number(row?.["pid"]))
      if (run !== undefined && by) held = { by, run, claim: String(row?.["claim"]) }
      return row !== undefined
    }, PATIENCE_MS)
    return held !== undefined
  }, PATIENCE_MS)
  if (!held) throw new Error("no process that the row cuts off has taken a run")
  await world.rest(BEGIN_MS)
  return held
}

/** A worker that lost a run in the middle of it was told so, and its late result was refused. I5. */
export async function complaintsAboutHeld(world: World, all: readonly Held[]): Promise<string[]> {
  const rows = await world.talk.ask(
    `select claim::text as claim from "${world.schema}".attempts where outcome = 'lost' and claim is not null`,
  )
  const taken = new Set(rows.map(({ claim }) => String(claim)))
  const lost = all.filter(({ claim }) => taken.has(claim))
  const history = readHistory(join(world.folder, "history"))
  const isSaid = (op: "abort" | "fenced", { run, claim }: Held) =>
    history.some((entry) => entry.op === op && entry.run === run && entry.claim === claim)
  const complaintsAboutTime = ({ by, run, claim, cut }: Held): string[] => {
    if (!cut) return []
    const told = history.find((entry) => entry.op === "abort" && entry.run === run && entry.claim === claim)
    const ms = told && Number((told.ns - cut.atNs) / 1_000_000n)
    return ms === undefined || ms <= cut.withinMs
      ? []
      : [
          violationText(
            "I5",
            `${by.name} was cut off, and told the handler of run ${run} only after ${ms} ms.`,
          ),
        ]
  }
  return [
    ...(lost.length > 0 ? [] : ["No process lost the run that it was executing."]),
    ...lost.flatMap((held) => [
      ...(isSaid("abort", held)
        ? []
        : [violationText("I5", `${held.by.name} lost run ${held.run}, and never told its handler.`)]),
      ...complaintsAboutTime(held),
      ...(isSaid("fenced", held)
        ? []
        : [violationText("I5", `${held.by.name} lost run ${held.run}, and was never refused.`)]),
    ]),
  ]
}
