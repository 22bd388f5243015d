/** A database that a test watches: it records the statements, and can come between one and its answer. */
import { DatabaseError } from "../../src/errors.ts"
import type { Database, Transaction } from "../../src/store/database.ts"
import type { Statement } from "../../src/store/statement.ts"

/** What happens in place of one call: `run` is the call itself. */
export type Meddling = <T>(run: () => Promise<T>) => Promise<T>

export interface WatchedDatabase extends Database {
  /** The names of the executed statements, in their order; `commit` for the end of a transaction. */
  readonly ran: readonly string[]
  readonly count: (statement: string) => number
  /** Comes between the next run of a statement and its caller. `commit`: the next transaction, as a whole. */
  readonly meddle: (statement: string, meddling: Meddling) => void
}

export function watchDatabase(database: Database): WatchedDatabase {
  const ran: string[] = []
  const meddlings = new Map<string, Meddling[]>()

  function call<T>(name: string, run: () => Promise<T>): Promise<T> {
    const meddling = meddlings.get(name)?.shift()
    return meddling ? meddling(run) : run()
  }

  function runOn(on: Pick<Transaction, "run">) {
    return <P, R>(statement: Statement<P, R>, params: P, options?: object): Promise<R[]> => {
      ran.push(statement.name)
      return call(statement.name, () => (on as Database).run(statement, params, options))
    }
  }

  return {
    ...database,
    ran,
    count: (name) => ran.filter((each) => each === name).length,
    meddle: (name, meddling) => {
      meddlings.set(name, [...(meddlings.get(name) ?? []), meddling])
    },
    run: runOn(database),
    transaction: (body, options) =>
      call("commit", async () => {
        const result = await database.transaction((tx) => body({ ...tx, run: runOn(tx) }), options)
        ran.push("commit")
        return result
      }),
  }
}

/** It takes effect, and its answer is lost. */
export const answerLost: Meddling = async (run) => {
  await run()
  throw connectionLost()
}

/** It never arrives, and its outcome is unknown. */
export const requestLost: Meddling = async () => {
  throw connectionLost()
}

/** The same, and the server reports that it has ended the session. */
export const sessionEnded: Meddling = async () => {
  throw new DatabaseError("OUTCOME_UNKNOWN", "the test ended the session", { sqlState: "57P01" })
}

/** The server refuses it for now. */
export const busy: Meddling = async () => {
  throw new DatabaseError("DATABASE_BUSY", "the test refused it", { sqlState: "40P01" })
}

/** Its connection has ended. */
export const unsent: Meddling = async () => {
  throw new DatabaseError("DATABASE_UNAVAILABLE", "the test ended the connection", { statement: "test" })
}

/** There is no free connection. */
export const outOfReach: Meddling = async () => {
  throw new DatabaseError("DATABASE_UNAVAILABLE", "the test refuses every connection")
}

function connectionLost(): DatabaseError {
  return new DatabaseError("OUTCOME_UNKNOWN", "the test cut the connection")
}
