/** One transaction on one connection: begun with its first command, and committed only if nothing in it failed. */

import { CarillonError } from "../../errors.ts"
import type { QueryResult } from "../../job/context.ts"
import { rolledBack } from "../database-error.ts"
import { PLANNED, UNPLANNED } from "../statement.ts"
import type { Answer, Command } from "./command.ts"
import type { Connection } from "./connection.ts"

export interface Session {
  readonly send: (command: Command) => Promise<Answer>
  /** One statement of the users' own. */
  readonly query: (text: string, values: readonly unknown[]) => Promise<QueryResult>
  /** What follows is planned under these settings. */
  readonly plan: (settings: string) => Promise<void>
  /** Does a part of the work; after one that failed there is no commit, even if the error was swallowed. */
  readonly attempt: <T>(part: () => Promise<T>) => Promise<T>
  readonly commit: () => Promise<void>
  readonly rollBack: () => Promise<void>
  /** What is being waited for, to be named when it takes too long. */
  readonly doing: () => string
}

export interface SessionParts {
  readonly connection: Connection
  readonly deadlineMs: number
  readonly deadlineAtMs: number
  readonly locksWithinMs?: number | undefined
}

export const COMMIT: Command = { label: "commit", text: "commit" }
const ROLLBACK: Command = { label: "rollback", text: "rollback" }

/** Read committed, whatever the default of the database or the user is: every statement is written for it. */
export function begin(settings: string): Command {
  return { label: "begin", text: `begin isolation level read committed; ${settings}` }
}

function endedByStatement(): CarillonError {
  return new CarillonError(
    "TRANSACTION_OVER",
    "A statement of the handler has ended its transaction. Leave `begin`, `commit` and `rollback` to whoever opened it: " +
      "what returns is committed, what throws is rolled back.",
  )
}

export function openTransaction(parts: SessionParts): Session {
  const { connection, deadlineMs, deadlineAtMs, locksWithinMs } = parts
  const idle = `set local idle_in_transaction_session_timeout = ${Math.ceil(deadlineMs)}`
  const locks = locksWithinMs === undefined ? "" : `; set local lock_timeout = ${Math.ceil(locksWithinMs)}`
  // Sent together with the first command: opening a transaction costs no round trip.
  let prefix = [begin(`${idle}${locks}`)]
  let failed = false
  let hasEnded = false
  const unplanned = connection.plan === "free" ? "" : PLANNED[connection.plan]
  let planned: string = unplanned
  let doing = "transaction"

  async function send(command: Command): Promise<Answer> {
    // It would be a transaction of its own now.
    if (hasEnded) throw endedByStatement()
    const commands = [...prefix.map((first) => ({ ...first, label: command.label })), command]
    prefix = []
    doing = command.label
    const answers = await connection.send(commands, deadlineAtMs)
    doing = "transaction"
    return answers[commands.length - 1] as Answer
  }

  return {
    send,
    query: async (text, values) => {
      if (prefix.length > 0) await send({ label: "begin", text: "select" })
      // What ours were planned by is nothing to theirs.
      if (planned !== unplanned) await send({ label: "plan", text: UNPLANNED })
      planned = unplanned
      doing = "a statement of the handler"
      const result = await connection.query(text, values, deadlineAtMs)
      doing = "transaction"
      hasEnded = connection.isOutside()
      if (hasEnded) throw endedByStatement()
      return result
    },
    plan: async (settings) => {
      if (planned === settings) return
      planned = settings
      await send({ label: "plan", text: settings })
    },
    attempt: (part) =>
      part().catch((error) => {
        failed = true
        throw error
      }),
    commit: async () => {
      if (prefix.length > 0) return
      if (failed) throw rolledBack()
      // PostgreSQL answers a commit of a failed transaction with a polite ROLLBACK; that is no commit.
      const { command } = await send(COMMIT)
      if (command !== "COMMIT") throw rolledBack()
    },
    rollBack: async () => {
      if (prefix.length > 0 || !connection.usable()) return
      await connection.send([ROLLBACK], deadlineAtMs).catch(() => connection.destroy())
    },
    doing: () => doing,
  }
}
