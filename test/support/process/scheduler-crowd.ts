/** Ten real processes with a scheduler each, all of which tick at once; a killed one is replaced. */
import { existsSync } from "node:fs"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startProcess, type WorkerProcess } from "./worker-process.ts"

/** Where a process can be killed, in the order of a tick. */
export const DEADLY_POINTS = [
  /** The due schedules were read. */
  "schedule.read",
  /** Their occurrences are decided. */
  "schedule.decided",
  /** The rows of the schedules are locked. */
  "taken",
  /** Occurrences and runs are being inserted and the cursor advanced, in one statement. */
  "writing",
  /** That is done. */
  "schedule.fired",
  /** The commit is in flight. */
  "committing",
  /** It is committed. */
  "schedule.committed",
] as const

export type DeadlyPoint = (typeof DEADLY_POINTS)[number]

export interface Crowd {
  /**
   * Lets all tick at once, again and again until it is done. On the way one of them dies at each of the points, which
   * are in the order of a tick.
   */
  readonly work: (points: readonly DeadlyPoint[], isDone: () => Promise<boolean>) => Promise<void>
  /**
   * Lets one read the due schedules and then suspends it; `undefined` if nothing is due. It takes no part until it is
   * woken up, and then goes on.
   */
  readonly doze: () => Promise<{ readonly wake: () => Promise<void> } | undefined>
  /** The planned deaths that happened, and how many processes were really killed. */
  readonly deaths: () => { readonly met: readonly DeadlyPoint[]; readonly killed: number }
  readonly close: () => Promise<void>
}

const SIZE = 10
/** Started ahead, so that no test waits for a replacement. */
const SPARE = 3
/** The locks of dead sessions are free in a moment; more rounds than this mean that something is stuck. */
const MOST_ROUNDS = 500

export async function gatherCrowd(options: {
  readonly database: string
  readonly schema: string
}): Promise<Crowd> {
  const folder = await mkdtemp(join(tmpdir(), "carillon-deaths-"))
  await chmod(folder, 0o755)
  const started: WorkerProcess[] = []
  const start = () => {
    const process = startProcess({ ...options, folder }, "scheduler.mjs")
    started.push(process)
    return process
  }
  const spare = Array.from({ length: SPARE }, start)
  const seats = Array.from({ length: SIZE }, start)
  const announced: { id: string; point: DeadlyPoint }[] = []
  const dozing = new Set<number>()
  let killed = 0
  let dozes = 0

  async function tickOn(seat: number, deaths: readonly object[]): Promise<void> {
    const process = seats[seat] as WorkerProcess
    const how = await Promise.race([process.call("tick", { deaths }).then(() => "alive"), process.ended])
    if (how === "alive") return
    if (how !== "SIGKILL") throw new Error(`a scheduler ended by itself: ${how}`)
    killed += 1
    seats[seat] = spare.shift() ?? start()
    spare.push(start())
  }

  const isMet = ({ id }: { readonly id: string }) => existsSync(join(folder, id))

  return {
    work: async (points, isDone) => {
      const deaths = points.map((point, index) => ({ id: `${announced.length + index}`, point }))
      announced.push(...deaths)
      for (let rounds = 0; ; rounds += 1) {
        if (rounds === MOST_ROUNDS) throw new Error("what is due is never done")
        await Promise.all(seats.map((_, seat) => (dozing.has(seat) ? undefined : tickOn(seat, deaths))))
        if (await isDone()) return
      }
    },
    doze: async () => {
      dozes += 1
      const [number, seat] = [dozes, dozes % SIZE]
      const process = seats[seat] as WorkerProcess
      const ticked = process.call("tick", { sleep: number })
      const asleep = process.until("asleep", (event) => event["number"] === number)
      const first = await Promise.race([ticked.then(() => "awake"), asleep.then(() => "asleep")])
      if (first === "awake") return undefined
      dozing.add(seat)
      return {
        wake: async () => {
          await process.call("wake")
          await ticked
          dozing.delete(seat)
        },
      }
    },
    deaths: () => ({ met: announced.filter(isMet).map(({ point }) => point), killed }),
    close: async () => {
      for (const process of started) process.kill("SIGKILL")
      await Promise.all(started.map((process) => process.ended))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
