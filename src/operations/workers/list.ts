/** Lists the processes that execute runs, with what each of them runs. */
import type { Runtime } from "../../runtime/runtime.ts"
import { listWorkers } from "../../store/workers/list.ts"
import { toDate } from "../../time/instant.ts"

/** One pool of a worker. */
export interface WorkerPool {
  /** The name of the pool. */
  readonly name: string
  /** How many runs the worker executes at once. Absent until it has measured itself. */
  readonly slots?: number
  /** How many slots are in use. Absent until it has measured itself. */
  readonly used?: number
}

/** A process that executes runs. */
export interface WorkerRecord {
  /** The id of its lease. After a lost lease a process goes on under a new one. */
  readonly id: string
  /** The name of its machine. */
  readonly host: string
  /** Its process id. */
  readonly pid: number
  /** The version of its code, if the application has one. */
  readonly version?: string
  /** The pools that it serves. */
  readonly pools: readonly WorkerPool[]
  /** The jobs that it has handlers for. */
  readonly jobs: readonly string[]
  /** When its lease began. */
  readonly startedAt: Date
  /** Other processes take its runs over if it has not renewed its lease by then. */
  readonly leaseUntil: Date
  /** The longest delay of its event loop in the 10 seconds before `measuredAt`. */
  readonly eventLoopDelayMs?: number
  /** The memory that it holds. */
  readonly memoryBytes?: number
  /** When it measured itself last: slots in use, delay and memory. */
  readonly measuredAt?: Date
  /** Runs that it holds, started or claimed ahead: at most 100. */
  readonly runs: readonly string[]
}

export interface WorkerListRequest {
  /** Only this one. All, if it is null. */
  readonly id: string | null
  /** The page begins after this id. Null begins with the first. */
  readonly after: string | null
  readonly limit: number
}

export interface WorkerListAnswer {
  readonly items: readonly WorkerRecord[]
  /** The next page begins after this id. Undefined if this page is the last. */
  readonly next: string | undefined
}

const LOWEST_ID = "00000000-0000-0000-0000-000000000000"
/** The most runs that are named for one worker. */
const MOST_RUNS = 100

export async function list({ database }: Runtime, request: WorkerListRequest): Promise<WorkerListAnswer> {
  const { id, after, limit } = request
  // One more, to know whether there is another page.
  const rows = await database.run(listWorkers, {
    lease: id,
    after: after ?? LOWEST_ID,
    limit: limit + 1,
    most: MOST_RUNS,
  })
  const items = rows.slice(0, limit).map((row) => ({
    id: row.lease,
    host: row.hostname,
    pid: row.pid,
    ...(row.version !== null && { version: row.version }),
    pools: poolsOf(row),
    jobs: JSON.parse(row.jobs) as string[],
    startedAt: toDate(row.started_at),
    leaseUntil: toDate(row.expires_at),
    ...(row.delay_ms !== null && { eventLoopDelayMs: row.delay_ms }),
    ...(row.memory_bytes !== null && { memoryBytes: row.memory_bytes }),
    ...(row.measured_at !== null && { measuredAt: toDate(row.measured_at) }),
    runs: JSON.parse(row.runs) as string[],
  }))
  return { items, next: rows.length > limit ? items.at(-1)?.id : undefined }
}

interface PoolLists {
  readonly pools: string
  readonly slots: string
  readonly used: string
}

function poolsOf({ pools, slots, used }: PoolLists): WorkerPool[] {
  const [slotList, usedList] = [JSON.parse(slots) as number[], JSON.parse(used) as number[]]
  return (JSON.parse(pools) as string[]).map((name, index) => {
    const [own, busy] = [slotList[index], usedList[index]]
    return { name, ...(own !== undefined && { slots: own }), ...(busy !== undefined && { used: busy }) }
  })
}
