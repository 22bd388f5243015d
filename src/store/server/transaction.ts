/** One transaction on one connection: begun with its first command, and committed only if nothing in it failed. */

import { CarillonError } from "../../errors.ts"
import type { QueryResult } from "../../job/context.ts"
import { rolledBack } from "../database-error.ts"
import { AMONG_OTHERS, type FixedPlan, PLANNED, type Plan, unsetOn } from "../statement.ts"
import type { Answer, Command } from "./command.ts"
import type { Connection } from "./connection.ts"

export interface Session {
  /** One statement of ours, planned as it asks for. */
  readonly send: (command: Command, plan?: Plan) => Promise<Answer>
  /** One statement of the users' own. */
  readonly query: (text: string, values: readonly unknown[]) => Promise<QueryResult>
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
  /** Statements of handlers come between ours, and find the session as they left it. */
  readonly isForHandlers: boolean
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
  const { connection, deadlineMs, deadlineAtMs, locksWithinMs, isForHandlers } = parts
  const idle = `set local idle_in_transaction_session_timeout = ${Math.ceil(deadlineMs)}`
  const locks = locksWithinMs === undefined ? "" : `; set local lock_timeout = ${Math.ceil(locksWithinMs)}`
  // Where nothing is known of the session and all statements are ours, everything is said at once.
  const unset = connection.plan === undefined && !isForHandlers ? `${unsetOn(connection.version).free}; ` : ""
  const first = begin(`${unset}${idle}${locks}`)
  let isBegun = false
  let failed = false
  let hasEnded = false
  let inForce: "theirs" | "ours" | FixedPlan = connection.plan ?? (isForHandlers ? "theirs" : "ours")
  let isBorrowing = false
  let doing = "transaction"

  /** What has to be said before a statement with this plan, if anything. */
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

  /** Sent together with what has to come before it: opening a transaction and planning cost no round trip. */
  async function send(command: Command, plan?: Plan): Promise<Answer> {
    // It would be a transaction of its own now.
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

  /** Gives handlers the session back that they know. */
  async function giveBack(): Promise<void> {
    if (!isBegun) await send({ label: "begin", text: "select" })
    if (!isForHandlers || inForce === "theirs") return
    // One that another pool has lent bears our settings from the start, and those of the role beneath them.
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
      // PostgreSQL answers a commit of a failed transaction with a polite ROLLBACK; that is no commit.
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
