/** An enqueue in a client's transaction, beside a row of its own: both are there, or neither. */
import type { PostgresClient } from "../../../src/api/caller-transaction.ts"
import type { EnqueueOptions } from "../../../src/api/runs/enqueue-options.ts"
import { CarillonError } from "../../../src/errors.ts"
import { isUncertain } from "../../../src/store/database-error.ts"
import type { Connection } from "../../../src/store/server/connection.ts"
import type { Life } from "../world/process.ts"
import { type Call, enqueueRecorded } from "./calls.ts"
import type { Task } from "./jobs.ts"

/** Connections of the users' own. */
export interface UserConnections {
  readonly schema: string
  readonly open: (life: Life) => Promise<Connection>
}

export interface InTransaction {
  readonly connections: UserConnections
  readonly life: Life
  readonly call: Call
  readonly wanted: { readonly job: string; readonly tasks: readonly Task[]; readonly options: EnqueueOptions }
  /** Changes its mind in the end. */
  readonly rollsBack: boolean
}

const PATIENCE_MS = 5_000

/** The ids of the runs that are certainly there. */
export async function enqueueInTransaction(parts: InTransaction): Promise<string[]> {
  const { connections, life, call, wanted, rollsBack } = parts
  const { host, record } = life
  const connection = await connections.open(life)
  const send = (label: string, text: string) =>
    connection.send([{ label: `user's ${label}`, text }], host.monotonicMs() + PATIENCE_MS)
  const mark = `mark ${call.number}`
  let isCommitting = false
  try {
    await send("begin", "begin")
    const tx = clientOf(connection, () => host.monotonicMs() + PATIENCE_MS)
    const [run = ""] = await enqueueRecorded(life, call, { ...wanted, options: { ...wanted.options, tx } })
    record("tx_invoke", { run, mark })
    await connection.query(
      `insert into "${connections.schema}".marks (mark, run) values ($1, $2)`,
      [mark, run],
      host.monotonicMs() + PATIENCE_MS,
    )
    if (rollsBack) throw rolledBack()
    isCommitting = true
    const [answer] = await send("commit", "commit")
    if (answer?.command !== "COMMIT") throw new Error("the commit of a user was none")
    record("tx_ok", { run, mark })
    record("enq_ok", { run, created: call.runs.get(0) === run })
    return [run]
  } catch (error) {
    const run = call.runs.get(0)
    if (run === undefined) throw error
    if (isCommitting && isUncertain(error)) record("tx_info", { run, mark })
    else record("tx_fail", { run, mark })
    // Before the commit was sent, nothing can have been changed.
    throw isCommitting ? error : rolledBack(error)
  } finally {
    connection.destroy()
  }
}

function rolledBack(cause?: unknown): CarillonError {
  return new CarillonError("TRANSACTION_OVER", "The user's transaction was rolled back.", { cause })
}

/** A connection as node-postgres has it. */
function clientOf(connection: Connection, deadlineAtMs: () => number): PostgresClient {
  const query = async ({ text, values }: { text: string; values: (string | null)[] }) => {
    // Labelled like the statement that it is, so that what is asked for is seen.
    const label = text.includes("into") ? "runs/insert" : "user's statement"
    const [answer] = await connection.send([{ label, text, values }], deadlineAtMs())
    return { fields: (answer?.columns ?? []).map((name) => ({ name })), rows: answer?.rows ?? [] }
  }
  return { query: query as PostgresClient["query"] }
}
