/** A schema of its own with any number of processes that record what they do, and a checker of it all. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { createSystemHost } from "../../../src/runtime/system.ts"
import type { Database } from "../../../src/store/database.ts"
import { openServer } from "../../../src/store/server/server.ts"
import { newSchema } from "../engines.ts"
import { describeExamination, type Examination, examine } from "../history/check.ts"
import type { History } from "../history/operations.ts"
import { readHistory } from "../history/read-history.ts"
import { SERVER_URLS } from "../server-urls.ts"
import { readFinal } from "./final-read.ts"
import { startProcess, type WorkerProcess } from "./worker-process.ts"

export interface RecordedOptions {
  readonly database?: string
  readonly lease?: string
  readonly slots?: number
  readonly pools?: Readonly<Record<string, number>>
  readonly clockOffMs?: number
  readonly crashAt?: string
  readonly wakeups?: boolean
}

export interface RecordedWorld {
  readonly folder: string
  readonly schema: string
  readonly spawn: (options?: RecordedOptions) => WorkerProcess
  /** The same, started. */
  readonly worker: (options?: RecordedOptions) => Promise<WorkerProcess>
  /** For questions and faults of the test's own. */
  readonly database: () => Database
  /** Everything that the processes have written down so far. */
  readonly history: () => History
  /** Reads what happened and what is left, and fails the test unless every invariant holds. */
  readonly judge: () => Promise<Examination>
}

const host = createSystemHost()

export async function recordedWorld(url: string = SERVER_URLS.postgres18): Promise<RecordedWorld> {
  const folder = await mkdtemp(join(tmpdir(), "carillon-recorded-"))
  await chmod(folder, 0o755)
  const schema = newSchema(host)
  const running: WorkerProcess[] = []
  const opened: Database[] = []
  onTestFinished(async () => {
    for (const process of running) process.kill("SIGKILL")
    await Promise.all(running.map((process) => process.ended))
    await Promise.all(opened.map((database) => database.close()))
    await rm(folder, { recursive: true, force: true })
  })

  const spawn = (options: RecordedOptions = {}) => {
    const common = { database: url, schema, folder: join(folder, "history"), lease: "2s" }
    const process = startProcess({ ...common, ...options }, "recorded-worker.mjs")
    running.push(process)
    return process
  }

  const history = () => readHistory(join(folder, "history"))

  const database = () => {
    const own = openServer(host, { url, schema })
    opened.push(own)
    return own
  }

  return {
    folder,
    schema,
    spawn,
    database,
    worker: async (options) => {
      const process = spawn(options)
      await process.call("start")
      return process
    },
    history,
    judge: async () => {
      const examination = examine(history(), await readFinal(database()))
      expect(examination.violations, describeExamination(examination)).toEqual([])
      return examination
    },
  }
}
