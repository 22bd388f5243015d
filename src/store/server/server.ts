/** The seam over a PostgreSQL server, given by URL or embedded. */
import { DEFAULTS } from "../../defaults.ts"
import { DatabaseError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import type { CallOptions, ConnectionClass, Database, Transaction } from "../database.ts"
import { closedError, deadlineError, isPassing } from "../database-error.ts"
import { withDeadline } from "../deadline.ts"
import {
  PLANNED,
  type Plan,
  resolveNames,
  type Statement,
  unsetOn,
  type WakeUp,
  wakeUpOf,
} from "../statement.ts"
import type { Answer, Command } from "./command.ts"
import { type Connection, connect } from "./connection.ts"
import { createNotifications } from "./listener.ts"
import { createPool, type Pool } from "./pool.ts"
import { MOST_CONNECTIONS, shareConnections } from "./share.ts"
import { begin, COMMIT, openTransaction, type Session } from "./transaction.ts"

export interface ServerOptions {
  readonly url: string
  readonly schema: string
  readonly engine?: "server" | "embedded"
  readonly workConnections?: number
  readonly vitalConnections?: number
  readonly handlerConnections?: number
  /** The number of connections that this process may hold in all. @default the sum of the classes */
  readonly maxConnections?: number | undefined
  readonly reports?: ServerReports
  /** How connections are made. A simulated network has its own. */
  readonly connect?: typeof connect
}

/** Reports about a server in trouble. */
export interface ServerReports {
  /** Called when connections can no longer be opened, and again only after one could be. */
  readonly onUnreachable?: (error: unknown) => void
  /** Called when the server refuses another connection, and again only after a minute without a refusal. */
  readonly onRefused?: (error: unknown, held: number) => void
}

const REFUSED_AGAIN_MS = 60_000
const REPEAT_BASE_MS = 20
const REPEAT_CAP_MS = 1_000
/**
 * A read may be repeated after its answer was lost, but not more often: the read itself may be what ends its
 * connections.
 */
const MOST_LOSSES = 3

export function openServer(host: Host, options: ServerOptions): Database {
  const { url, schema, connect: dial = connect } = options
  const { reports = {} } = options
  const shares = shareConnections(options.maxConnections ?? MOST_CONNECTIONS)
  let refusedAtMs = Number.NEGATIVE_INFINITY

  const onRefused = (error: unknown) => {
    const nowMs = host.monotonicMs()
    const isNews = nowMs - refusedAtMs > REFUSED_AGAIN_MS
    refusedAtMs = nowMs
    const held = [work, vital, ...(handler === work ? [] : [handler])].reduce(
      (sum, pool) => sum + pool.size(),
      0,
    )
    if (isNews) reports.onRefused?.(error, held)
  }
  const common = { url, onRefused, connect: dial }
  const work: Pool = createPool(host, {
    ...common,
    max: options.workConnections ?? shares.work,
    plan: "index",
    onUnreachable: reports.onUnreachable,
    others: { pools: () => [vital], isUrgent: false },
  })
  const vital: Pool = createPool(host, {
    ...common,
    max: options.vitalConnections ?? shares.vital,
    plan: "hashed",
    others: { pools: () => [work], isUrgent: true },
  })
  const ownHandler = options.handlerConnections ?? shares.handler
  const handler: Pool =
    ownHandler === 0
      ? work
      : createPool(host, {
          ...common,
          max: ownHandler,
          keep: 0,
          others: { pools: () => [work], isUrgent: false },
        })
  const pools: Record<ConnectionClass, Pool> = { work, vital, handler }
  const notifications = createNotifications(host, url, dial, onRefused)
  const texts = new Map<string, string>()

  function commandOf({ name, text: textIn, values }: WakeUp): Command {
    let text = texts.get(name)
    if (text === undefined) {
      text = textIn(schema)
      texts.set(name, text)
    }
    return { label: name, text, values, prepare: true }
  }

  async function run<P, R>(statement: Statement<P, R>, params: P, call: CallOptions = {}): Promise<R[]> {
    const command = commandOf(wakeUpOf(statement, params))
    const deadlineAtMs = host.monotonicMs() + (call.deadlineMs ?? DEFAULTS.deadlineMs)
    let losses = 0
    for (let failures = 0; ; failures += 1) {
      try {
        const answer = await lendTo(call, deadlineAtMs, (connection) => {
          const settings = settingsFor(connection, statement.plan)
          call.onSent?.()
          if (call.unless?.aborted) throw closedError()
          return settings === undefined
            ? sendAlone(connection, command, deadlineAtMs)
            : sendPlanned(connection, command, settings, deadlineAtMs)
        })
        return statement.read(answer.columns, answer.rows)
      } catch (error) {
        const restMs = host.random() * Math.min(REPEAT_CAP_MS, REPEAT_BASE_MS * 2 ** failures)
        if (isLost(error)) losses += 1
        const isRepeatable = isPassing(error) || (statement.reads && isLost(error) && losses <= MOST_LOSSES)
        if (!isRepeatable || host.monotonicMs() + restMs >= deadlineAtMs || call.unless?.aborted) throw error
        await host.sleep(restMs, call.unless)
      }
    }
  }

  async function transaction<T>(body: (tx: Transaction) => Promise<T>, call: CallOptions = {}): Promise<T> {
    const deadlineMs = call.deadlineMs ?? DEFAULTS.deadlineMs
    const deadlineAtMs = host.monotonicMs() + deadlineMs
    return lend(call, deadlineAtMs, (connection) => {
      call.onSent?.()
      if (call.unless?.aborted) throw closedError()
      const session = openTransaction({
        connection,
        deadlineMs,
        deadlineAtMs,
        locksWithinMs: call.locksWithinMs,
        isForHandlers: call.connection === "handler",
      })
      const onLate = () => {
        connection.destroy()
        return deadlineError(session.doing())
      }
      return withDeadline(host, { atMs: deadlineAtMs, work: complete(session, body), onLate })
    })
  }

  async function complete<T>(session: Session, body: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      const result = await body({
        run: (statement, params) =>
          session.attempt(async () => {
            const answer = await session.send(commandOf(wakeUpOf(statement, params)), statement.plan)
            return statement.read(answer.columns, answer.rows)
          }),
        query: (text, values) => session.attempt(() => session.query(text, values)),
        script: (sql) =>
          session.attempt(async () => {
            await session.send({ label: "script", text: resolveNames(sql, schema) })
          }),
      })
      await session.commit()
      return result
    } catch (error) {
      await session.rollBack()
      throw error
    }
  }

  /**
   * Like `lend`, and sends `behind` in the same write. The caller gets its answer without waiting for the answer to
   * `behind`.
   */
  function lendTo<T>(
    call: CallOptions,
    deadlineAtMs: number,
    use: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const { behind } = call
    if (behind === undefined) return lend(call, deadlineAtMs, use)
    return new Promise((resolve, reject) => {
      const lent = lend(call, deadlineAtMs, async (connection) => {
        const [answered, told] = connection.inOneWrite(() => [
          use(connection),
          connection.send([commandOf(behind)], deadlineAtMs),
        ])
        answered.then(resolve, reject)
        await Promise.allSettled([answered, told])
        await answered
      })
      void lent.catch(reject).finally(behind.onEnd)
    })
  }

  /** Lends a connection of the class. One answer from a read-only server empties the pools of all classes. */
  async function lend<T>(
    call: CallOptions,
    deadlineAtMs: number,
    use: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    try {
      return await pools[call.connection ?? "work"].lend(deadlineAtMs, use)
    } catch (error) {
      if (error instanceof DatabaseError && error.sqlState === "25006") {
        for (const pool of Object.values(pools)) pool.evict()
      }
      throw error
    }
  }

  return {
    engine: options.engine ?? "server",
    schema,
    abilities: { connections: true, processes: true },
    // Without an address no thread renews the lease. Without a connection for it, the process does not listen.
    ...(shares.thread && { address: url }),
    run,
    transaction,
    listen: shares.listens ? notifications.listen : async () => ({ close: async () => {} }),
    close: async () => {
      await Promise.all([notifications.close(), ...Object.values(pools).map((pool) => pool.close())])
    },
  }
}

/** The settings to send before a statement in a transaction of its own, or nothing if they are in force already. */
function settingsFor({ plan: has, version }: Connection, plan: Plan): string | undefined {
  if (plan === "alone") return undefined
  if (has === undefined) return unsetOn(version)[plan]
  return plan === "free" || plan === has ? undefined : PLANNED[plan]
}

function isLost(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "OUTCOME_UNKNOWN"
}

async function sendAlone(connection: Connection, command: Command, deadlineAtMs: number): Promise<Answer> {
  const [answer] = await connection.send([command], deadlineAtMs)
  return answer as Answer
}

async function sendPlanned(
  connection: Connection,
  command: Command,
  settings: string,
  deadlineAtMs: number,
): Promise<Answer> {
  const { label } = command
  // All three commands bear the name of the statement, so that an error of any names it.
  const commands = [{ ...begin(settings), label }, command, { ...COMMIT, label }]
  const [, answer] = await connection.send(commands, deadlineAtMs)
  return answer as Answer
}
