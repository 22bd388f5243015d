/** A table of ready runs as a claimer with a low-water mark sees it: transactions, locks, snapshots and a clock. */
import fc from "fast-check"
import { BOTTOM, createLowWater, type LowWater, parseSnapshot } from "../../src/queue/low-water.ts"

const SLACK = 100_000
export const LANES = ["any:0", "solo:5"] as const
const laneOf = (number: number) => LANES[number % LANES.length] ?? LANES[0]

export interface Run {
  readonly lane: string
  readonly rank: bigint
  visible: boolean
  gone: boolean
  lockedBy: bigint | undefined
  /** How often its row was locked when the mark passed it. The first time is made good. */
  passes: number
  /** Whether that has happened since it could last be claimed. */
  isPassed: boolean
}

/** One event in the database, or one step of the claimer. Numbers choose among what there is. */
export type Step =
  | { readonly kind: "pass time"; readonly us: number }
  /** A transaction writes a run, a moment after it has read the clock, and stays open. It may have been open before. */
  | { readonly kind: "write"; readonly lane: number; readonly stallUs: number; readonly by: number | null }
  | { readonly kind: "lock"; readonly which: number }
  /** An open transaction ends: its writes are there or not, and its locks are released. */
  | { readonly kind: "end"; readonly which: number; readonly how: "commit" | "roll back" | "take" }
  /** `meanwhile` happens after the claim has got its first run and before it looks at the others. */
  | { readonly kind: "claim"; readonly lane: number; readonly limit: number; readonly meanwhile: Step[] }
  | { readonly kind: "look" }
  /** Looks, and claims everything in every lane, from the bottom on; `meanwhile` happens between the two. */
  | { readonly kind: "go through"; readonly meanwhile: Step[] }
  | { readonly kind: "wake"; readonly which: number }
  | { readonly kind: "set the clock back"; readonly us: number }
  | { readonly kind: "begin at the bottom" }
  /** Another claimer takes over, and begins where this one has come to. */
  | { readonly kind: "hand over" }

/** PostgreSQL as a claimer sees it: transactions in the order of their numbers, and a snapshot that lists some. */
export class LowWaterModel {
  low: LowWater = createLowWater()
  readonly runs: Run[] = []
  #clockUs = 1_000_000_000
  #next = 100n
  #ended = 99n
  readonly #open = new Map<bigint, Run[]>()
  #lastLookUs = 0
  #isSetBack = false

  do(step: Step): void {
    switch (step.kind) {
      case "pass time": {
        const toUs = this.#clockUs + step.us
        // A clock that is set back by less than the time between two looks goes unnoticed, and no promise covers it.
        this.#clockUs = this.#isSetBack ? Math.min(toUs, this.#lastLookUs - 1) : toUs
        return
      }
      case "write": {
        const rank = BigInt(this.#clockUs - step.stallUs)
        const lane = laneOf(step.lane)
        const isPassed = rank < this.low.from(lane)
        const run = {
          lane,
          rank,
          visible: false,
          gone: false,
          lockedBy: undefined,
          passes: isPassed ? 1 : 0,
          isPassed,
        }
        this.runs.push(run)
        const writer = step.by === null ? undefined : pick([...this.#open.values()], step.by)
        if (writer) writer.push(run)
        else this.#begin([run])
        return
      }
      case "lock": {
        const run = pick(this.available(), step.which)
        if (!run) return
        run.lockedBy = this.#begin([run])
        run.isPassed = false
        return
      }
      case "end": {
        const transaction = pick([...this.#open.keys()], step.which)
        if (transaction !== undefined) this.#end(transaction, step.how)
        return
      }
      case "claim":
        this.#claim(laneOf(step.lane), step.limit, step.meanwhile)
        return
      case "look": {
        this.low.look(parseSnapshot(this.#snapshot(), BigInt(this.#clockUs)))
        this.#lastLookUs = this.#clockUs
        this.#isSetBack = false
        return
      }
      case "go through":
        this.#goThrough(step.meanwhile)
        return
      case "wake": {
        const run = pick(this.available(), step.which)
        if (run) this.low.wake(run.lane, run.rank)
        return
      }
      case "set the clock back":
        this.#clockUs = Math.min(this.#clockUs, this.#lastLookUs) - step.us
        this.#isSetBack = true
        return
      case "begin at the bottom":
        this.low.reset()
        return
      case "hand over": {
        const next = createLowWater()
        next.begin(this.low.reached())
        this.low = next
        return
      }
    }
  }

  /** What any claimer could claim now. */
  available(): Run[] {
    return this.runs.filter((run) => run.visible && !run.gone && run.lockedBy === undefined)
  }

  #begin(runs: Run[]): bigint {
    const transaction = this.#next
    this.#next += 1n
    this.#open.set(transaction, runs)
    return transaction
  }

  #end(transaction: bigint, how: "commit" | "roll back" | "take"): void {
    for (const run of this.#open.get(transaction) ?? []) {
      if (run.lockedBy === undefined) {
        run.visible = how === "commit"
        run.gone = how !== "commit"
      } else run.gone = how === "take"
      run.lockedBy = undefined
    }
    this.#open.delete(transaction)
    if (transaction > this.#ended) this.#ended = transaction
  }

  /** `xmax` is one more than the last that has ended; later transactions are not listed. */
  #snapshot(): string {
    const to = this.#ended + 1n
    const listed = [...this.#open.keys()].filter((transaction) => transaction < to)
    return `0:${to}:${listed}:${this.#next - to}`
  }

  #claim(lane: string, limit: number, meanwhile: readonly Step[]): void {
    const from = this.low.from(lane)
    const seen = this.available().filter((run) => run.lane === lane && run.rank >= from)
    seen.sort((a, b) => Number(a.rank - b.rank))
    const [first, ...others] = seen
    if (!first || limit === 0) return
    first.gone = true
    const transaction = this.#begin([])
    for (const step of meanwhile) this.do(step)
    const free = others.filter((run) => !run.gone && run.lockedBy === undefined).slice(0, limit - 1)
    for (const run of free) run.gone = true
    this.#end(transaction, "commit")
    for (const run of [first, ...free]) this.low.pass(lane, run.rank)
    this.#countPassed(lane, from)
  }

  #goThrough(meanwhile: readonly Step[]): void {
    this.do({ kind: "look" })
    this.low.reset()
    for (const step of meanwhile) this.do(step)
    const transaction = this.#begin([])
    for (const run of this.available()) {
      run.gone = true
      this.low.pass(run.lane, run.rank)
    }
    this.#end(transaction, "commit")
    this.low.passAll(LANES)
    for (const lane of LANES) this.#countPassed(lane, BOTTOM)
  }

  #countPassed(lane: string, from: bigint): void {
    const now = this.low.from(lane)
    for (const run of this.runs) {
      if (run.lane !== lane || run.rank < from || run.rank >= now || run.isPassed) continue
      run.passes += 1
      run.isPassed = true
    }
  }
}

/** Chooses the last of what there is. */
export const LAST = -1

export function pick<T>(from: readonly T[], which: number): T | undefined {
  return which === LAST ? from.at(-1) : from[which % Math.max(1, from.length)]
}

const which = fc.nat(20)
const write = fc.record({
  kind: fc.constant("write" as const),
  lane: fc.nat(1),
  // In the order of their commits, as a rule; sometimes a moment late.
  stallUs: fc.oneof(fc.constant(0), fc.nat(SLACK)),
  by: fc.constant(null),
})
const writeMore = fc.tuple(write, which).map(([run, by]) => ({ ...run, by }))
const lock = fc.record({ kind: fc.constant("lock" as const), which })
const end = fc.record({
  kind: fc.constant("end" as const),
  which,
  how: fc.constantFrom("commit" as const, "commit" as const, "roll back" as const, "take" as const),
})
/** Written and committed, by the transaction that began last. */
const enqueue = write.map((run): Step[] => [run, { kind: "end", which: LAST, how: "commit" }])
const meanwhile = fc.array(fc.oneof(enqueue, fc.oneof(write, writeMore, lock, end).map(alone)), {
  maxLength: 2,
})
const claims = fc
  .record({
    lane: fc.nat(1),
    limit: fc.constantFrom(1, 2, 100),
    meanwhile: meanwhile.map((all) => all.flat()),
  })
  .map((claim): Step[] => [{ kind: "claim", ...claim }])
const goings = meanwhile.map((all): Step[] => [{ kind: "go through", meanwhile: all.flat() }])
const some = (kind: "look" | "begin at the bottom" | "hand over") => fc.constant<Step[]>([{ kind }])

/** A life of some transactions and one claimer. */
export const someSteps = fc
  .array(
    fc.oneof(
      { weight: 40, arbitrary: enqueue },
      { weight: 15, arbitrary: fc.oneof(write, writeMore, lock).map(alone) },
      { weight: 15, arbitrary: end.map(alone) },
      { weight: 30, arbitrary: claims },
      { weight: 15, arbitrary: some("look") },
      {
        weight: 30,
        arbitrary: fc.constantFrom(1, 150_000, 400_000).map((us) => [{ kind: "pass time", us }]),
      },
      { weight: 2, arbitrary: which.map((run) => [{ kind: "wake", which: run }]) },
      { weight: 2, arbitrary: fc.constantFrom(1, 700_000).map((us) => [{ kind: "set the clock back", us }]) },
      { weight: 1, arbitrary: some("begin at the bottom") },
      { weight: 5, arbitrary: some("hand over") },
      { weight: 2, arbitrary: goings },
    ),
    { maxLength: 80, size: "max" },
  )
  .map((all): Step[] => all.flat() as Step[])

function alone(step: Step): Step[] {
  return [step]
}
