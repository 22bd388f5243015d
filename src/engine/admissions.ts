/**
 * Lets parked runs go on when there is room under their limits.
 *
 * Admitting is a short transaction of its own, after the commit of whatever made room: it takes the right to admit
 * under the keys, then counts, then moves. Whoever does not get that right leaves it to the one who has it, and a
 * sweep once a second finds what was left undone in between, by a crash or by that.
 */
import { admit, type InLine } from "../queue/admission.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { admitRuns } from "../store/limits/admit.ts"
import { nextInLine } from "../store/limits/next-in-line.ts"
import { roomUnderLimits } from "../store/limits/room.ts"
import { tryLockLimits } from "../store/limits/try-lock.ts"
import { limitsWithRoom } from "../store/limits/with-room.ts"
import type { ReadyLane } from "./lane.ts"
import { createBell, type Loop } from "./loop.ts"

export interface Admissions extends Loop {
  /** Admits what has room under these keys, soon. What fails is found by the sweep. */
  readonly admit: (keys: readonly string[]) => void
}

export interface AdmissionsParts {
  readonly runtime: Runtime
  readonly onReady: (lane: ReadyLane) => void
}

const SWEEP_EVERY_MS = 1_000
/** How many keys one sweep looks at, and how many runs one admission moves. */
const MOST_KEYS = 500
const MOST_RUNS = 200
/** How often it tries while others are at it, and how long it rests in between at the most. */
const MOST_TRIES = 10
const BUSY_REST_MS = 20

export function createAdmissions({ runtime, onReady }: AdmissionsParts): Admissions {
  const { database } = runtime
  const bell = createBell(runtime)
  const wanted = new Set<string>()
  let isWorking = false
  /** Where the next sweep goes on. */
  let after = ""

  /** Admits under one key until there is no room or nobody in line. */
  async function admitUnder(key: string): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const lanes = await admitSome(key)
      for (const lane of lanes ?? []) onReady(lane)
      if (lanes && lanes.length < MOST_RUNS) return
      // Whoever is at it may have counted before our room was there: ask again when they are done.
      if (!lanes) await runtime.sleep(runtime.random() * BUSY_REST_MS)
    }
  }

  /** What was admitted; `undefined` if somebody else is at it. */
  function admitSome(key: string): Promise<readonly ReadyLane[] | undefined> {
    return database.transaction(async (tx) => {
      const first = lineOf(await tx.run(nextInLine, { keys: [key], limit: MOST_RUNS }))
      const keys = [...new Set(first.flatMap((run) => run.keys))].sort()
      if (keys.length === 0) return []
      const [lock] = await tx.run(tryLockLimits, { schema: database.schema, keys })
      if (!lock?.taken) return undefined
      // Read again under the lock: what was seen before may have been admitted since.
      const line = lineOf(await tx.run(nextInLine, { keys: [key], limit: MOST_RUNS })).filter((run) =>
        run.keys.every((each) => keys.includes(each)),
      )
      const room = await tx.run(roomUnderLimits, { keys })
      const admitted = admit(line, new Map(room.map((row) => [row.key, row.room])))
      if (admitted.length === 0) return []
      await runtime.crashPoint("admit.counted")
      return tx.run(admitRuns, { ids: admitted })
    })
  }

  async function work(): Promise<void> {
    isWorking = true
    for (const key of wanted) {
      wanted.delete(key)
      await admitUnder(key).catch(() => {})
    }
    isWorking = false
  }

  async function sweep(): Promise<void> {
    const keys = await database.run(limitsWithRoom, { after, limit: MOST_KEYS })
    after = keys.length === MOST_KEYS ? (keys.at(-1)?.key ?? "") : ""
    for (const { key, room } of keys) if (room > 0) await admitUnder(key)
  }

  return {
    name: "admissions",
    bell,
    tick: async () => {
      await sweep()
      return after === "" ? SWEEP_EVERY_MS : 0
    },
    admit: (keys) => {
      for (const key of keys) wanted.add(key)
      if (!isWorking) void work()
    },
  }
}

function lineOf(rows: readonly { readonly run: string; readonly keys: string }[]): InLine[] {
  return rows.map(({ run, keys }) => ({ run, keys: JSON.parse(keys) as string[] }))
}
