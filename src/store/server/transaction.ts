/** One transaction on one connection. It begins with its first command, and commits only if nothing in it failed. */

import { CarillonError } from "../../errors.ts"
import type { QueryResult } from "../../job/context.ts"
import { rolledBack } from "../database-error.ts"
import { AMONG_OTHERS, type FixedPlan, PLANNED, type Plan, unsetOn } from "../statement.ts"
import type { Answer, Command } from "./command.ts"
import type { Connection } from "./connection.ts"

export interface Session {
  /** Sends one statement of Carillon's under the plan that it asks for. */
  readonly send: (command: Command, plan?: Plan) => Promise<Answer>
  /** Sends one statement of the user's. */
  readonly query: (text: string, values: readonly unknown[]) => Promise<QueryResult>
  /** Does a part of the work. If a part failed, there is no commit, even if the error was swallowed. */
  readonly attempt: <T>(part: () => Promise<T>) => Promise<T>
  readonly commit: () => Promise<void>
  readonly rollBack: () => Promise<void>
  /** The command in flight, which a deadline error names. */
  readonly doing: () => string
}

export interface SessionParts {
  readonly connection: Connection
  readonly deadlineMs: number
  readonly deadlineAtMs: number
  readonly locksWithinMs?: number | undefined
  /** Statements of handlers come between Carillon's, and find the session settings as they left them. */
  readonly isForHandlers: boolean
}

export const COMMIT: Command = { label: "commit", text: "commit" }
const ROLLBACK: Command = { label: "rollback", text: "rollback" }

/** Read committed, whatever the default of the database or the role: every statement is written for it. */
export function begin(settings: string): Command {
  return { label: "begin", text: `begin isolation level read committed; ${settings}` }
}

function endedByStatement(): CarillonError {
  return new CarillonError(
    "TRANSACTION_OVER",
    "A statement of the handler has ended its transaction. Do not send `begin`, `commit` or `rollback`: " +
      "Carillon commits when the function returns, and rolls back when it throws.",
  )
}

export function openTransaction(parts: SessionParts): Session {
  const { connection, deadlineMs, deadlineAtMs, locksWithinMs, isForHandlers } = parts
  const idle = `set local idle_in_transaction_session_timeout = ${Math.ceil(deadlineMs)}`
  const locks = locksWithinMs === undefined ? "" : `; set local lock_timeout = ${Math.ceil(locksWithinMs)}`
  // If the session settings are unknown and all statements are Carillon's, they are all set at the beginning.
  const unset = connection.plan === undefined && !isForHandlers ? `${unsetOn(connection.version).free}; ` : ""
  const first = begin(`${unset}${idle}${locks}`)
  let isBegun = false
  let failed = false
  let hasEnded = false
  let inForce: "theirs" | "ours" | FixedPlan = connection.plan ?? (isForHandlers ? "theirs" : "ours")
  let isBorrowing = false
  let doing = "transaction"

  /** The settings to send before a statement with this plan, if any. */
  function settingsFor(plan: Plan): string | undefined {
    const wanted = plan === "index" || plan === "hashed" ? plan : undefined
    if (inForce === "theirs") {
      inForce = wanted ?? "index"
      isBorrowing = true
      return AMONG_OTHERS[inForce]
    }
    if (wanted === undefined || wanted === inForce) return undefined
    inForce = wanted
    return PLANNED[wanted]
  }

  /**
   * Sends a command together with what must come before it, so that `begin` and the plan settings cost no round trip.
   */
  async function send(command: Command, plan?: Plan): Promise<Answer> {
    // The command would run in a transaction of its own now.
    if (hasEnded) throw endedByStatement()
    const { label } = command
    const settings = plan && settingsFor(plan)
    const before = [
      ...(isBegun ? [] : [first]),
      ...(settings === undefined ? [] : [{ label, text: settings }]),
    ]
    isBegun = true
    doing = label
    const commands = [...before.map((each) => ({ ...each, label })), command]
    const answers = await connection.send(commands, deadlineAtMs)
    doing = "transaction"
    return answers[commands.length - 1] as Answer
  }

  /** Restores the settings of the session that handlers know. */
  async function giveBack(): Promise<void> {
    if (!isBegun) await send({ label: "begin", text: "select" })
    if (!isForHandlers || inForce === "theirs") return
    // A connection lent by another pool has Carillon's settings from the start, above those of the role.
    await send({ label: "plan", text: isBorrowing ? AMONG_OTHERS.giveBack : AMONG_OTHERS.asDefault })
    inForce = "theirs"
  }

  return {
    send,
    query: async (text, values) => {
      await giveBack()
      doing = "a statement of the handler"
      const result = await connection.query(text, values, deadlineAtMs)
      doing = "transaction"
      hasEnded = connection.isOutside()
      if (hasEnded) throw endedByStatement()
      return result
    },
    attempt: (part) =>
      part().catch((error) => {
        failed = true
        throw error
      }),
    commit: async () => {
      if (!isBegun) return
      if (failed) throw rolledBack()
      // PostgreSQL answers a commit of a failed transaction with ROLLBACK and no error.
      const { command } = await send(COMMIT)
      if (command !== "COMMIT") throw rolledBack()
    },
    rollBack: async () => {
      if (!isBegun || !connection.usable()) return
      await connection.send([ROLLBACK], deadlineAtMs).catch(() => connection.destroy())
    },
    doing: () => doing,
  }
}
