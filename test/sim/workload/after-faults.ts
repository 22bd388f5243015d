/** The work of the quiet phase, when nothing is broken and no other work is left: all of it is judged by the clock. */
import { DEFAULTS } from "../../../src/defaults.ts"
import type { History } from "../../support/history/operations.ts"
import type { Life, SimProcess } from "../world/process.ts"
import type { Pen } from "../world/recorder.ts"
import { describe } from "../world/unexpected-errors.ts"
import { type Calls, enqueueRecorded } from "./calls.ts"
import { cancelUnderWay } from "./cancel.ts"
import type { Plan } from "./plan.ts"

export interface PeaceParts {
  readonly plan: Plan
  readonly calls: Calls
  readonly history: History
  readonly record: Pen
  /** The reading of the database's clock. */
  readonly clockUs: () => number
  /** How many runs there are, and which. */
  readonly left: () => number
  readonly leftover: () => string
  /** All that are at work. */
  readonly lives: () => readonly Life[]
  /** Whether any process receives notifications. */
  readonly setHeard: (isHeard: boolean) => void
  readonly until: (isSo: () => boolean, withinUs: number, otherwise: () => string) => Promise<void>
  readonly onTrouble: (says: string) => void
}

/** So many, each of which takes so long. */
interface Wish {
  readonly runs: number
  readonly ms: number
  readonly delayMs: number
}

const PEACE_US = 60_000_000
/** Longer than any handler waits for its cancel. */
const LONG_MS = 30_000
/** A received message takes no longer than its way. */
const HEARD_MS = 100
/** Without wake-ups: due runs are looked for once a second, and then by workers at their longest rest. */
const UNHEARD_MS = DEFAULTS.pollMs + DEFAULTS.idlePollMs + 50

/** Through one process: a due run starts in time, a cancelled handler is told so, and a stop gives its runs back. */
export async function livePeacefully(parts: PeaceParts, process: SimProcess, life: Life): Promise<void> {
  const { record, clockUs, left, leftover, until, setHeard } = parts
  const nothingIsLeft = () => left() === 0
  const { wakeups, leaseMs } = parts.plan
  record("quiet_from", { nowUs: clockUs(), ...(!wakeups && { withinMs: UNHEARD_MS }) })
  await grant(parts, () => askInPeace(parts, life, { runs: 4, ms: 0, delayMs: 400 }), nothingIsLeft)
  record("quiet_to", { nowUs: clockUs() })
  // A process without wake-ups looks once per renewal of its lease, which is four times while that lasts.
  const lookedUpMs = leaseMs / 4 + 1_000
  await grant(parts, () => cancelInPeace(parts, life, wakeups ? HEARD_MS : lookedUpMs), nothingIsLeft)
  await grant(parts, () => cancelInPeace(parts, life, lookedUpMs, () => setHeard(false)), nothingIsLeft)
  setHeard(true)
  // A process that is stopped at work gives back what it cannot finish, however long it waits for that.
  await grant(
    parts,
    () => askInPeace(parts, life, { runs: 2, ms: 9_000, delayMs: 0 }),
    () => true,
  )
  const told = process.life()?.pid
  process.stop(100)
  await until(
    // The supervisor of stopped processes may have replaced this one.
    () => !process.isAlive() || process.life()?.pid !== told,
    PEACE_US,
    () => "in peace, a process does not stop",
  )
  if (!process.isAlive()) process.start()
  await until(nothingIsLeft, PEACE_US, () => `after a stop, not everything ended: ${leftover()}`)
}

async function grant(parts: PeaceParts, ask: () => Promise<void>, isEnough: () => boolean): Promise<void> {
  let isAsked = false
  void ask().then(
    () => (isAsked = true),
    (error: unknown) => parts.onTrouble(`nothing was broken, and yet: ${describe(error)}`),
  )
  await parts.until(
    () => isAsked && isEnough(),
    PEACE_US,
    () => `in peace, not everything ended: ${parts.leftover()}`,
  )
}

/** With a moment between any two. */
async function askInPeace(parts: PeaceParts, life: Life, wish: Wish): Promise<void> {
  const { chance, host } = life
  for (let count = 0; count < wish.runs; count += 1) {
    await enqueuePlain(parts, life, wish)
    await host.sleep(chance.between(1, 600))
  }
}

async function cancelInPeace(
  parts: PeaceParts,
  life: Life,
  withinMs: number,
  before?: () => void,
): Promise<void> {
  const run = await enqueuePlain(parts, life, { ms: LONG_MS, delayMs: 0 })
  const { history, lives } = parts
  await cancelUnderWay(life, { run, withinMs, history, lives, ...(before && { before }) })
}

/** The id of the run. */
async function enqueuePlain(
  { plan, calls }: PeaceParts,
  life: Life,
  wish: Omit<Wish, "runs">,
): Promise<string> {
  const call = calls.open(life, {
    job: "plain",
    attempts: plan.attempts,
    retry: plan.retry,
  })
  const options = wish.delayMs > 0 ? { delay: life.chance.between(1, wish.delayMs) } : {}
  const [run = ""] = await enqueueRecorded(life, call, { job: "plain", tasks: [{ ms: wish.ms }], options })
  return run
}
