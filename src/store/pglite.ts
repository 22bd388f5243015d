/**
 * The seam over PGlite: PostgreSQL compiled to WebAssembly, inside this process, with one connection.
 *
 * For tests, and for data on disk where no server runs. Everything that it lacks follows from the one connection: no
 * other session can hold a lock, no call can run beside an open transaction, and no statement can be interrupted.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import type { PGlite, Transaction as PGliteTransaction } from "@electric-sql/pglite"
import { DEFAULTS } from "../defaults.ts"
import { CarillonError } from "../errors.ts"
import type { Host } from "../runtime/host.ts"
import type { CallOptions, Database } from "./database.ts"
import { closedError, deadlineError, rolledBack, translateError } from "./database-error.ts"
import { withDeadline } from "./deadline.ts"
import { PLANNED, quoteIdentifier, resolveNames, type Statement, type WakeUp } from "./statement.ts"

export type { PGlite } from "@electric-sql/pglite"

export interface PgliteOptions {
  readonly schema: string
  /** An instance to share. It stays open when this database is closed. @default a new one, in memory */
  readonly instance?: PGlite
}

type Queryable = Pick<PGliteTransaction, "query" | "exec">

const asText = (value: string): string => value

/** bool, int8, int4, text, json, timestamptz, uuid: kept as text, as on every other engine. */
const AS_TEXT = {
  rowMode: "array",
  parsers: { 16: asText, 20: asText, 23: asText, 25: asText, 114: asText, 1184: asText, 2950: asText },
  serializers: { 16: asText, 20: asText, 23: asText, 114: asText, 1184: asText },
} as const

/** The package is optional and loaded on demand, so a program with a server does not pay for it. */
export function loadPglite(): Promise<typeof import("@electric-sql/pglite")> {
  // Caught right here, so that bundlers do not insist on the package either.
  return import("@electric-sql/pglite").catch((cause: unknown) => {
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(String((cause as { code?: unknown }).code))) throw cause
    throw new CarillonError(
      "PGLITE_MISSING",
      "PGlite is not installed. It is an optional package of Carillon: install without `--omit=optional`, or run " +
        "`npm install @electric-sql/pglite`.",
      { cause },
    )
  })
}

/** Opens a PGlite in memory or in a folder. */
export async function createPglite(folder?: string): Promise<PGlite> {
  const { PGlite } = await loadPglite()
  if (folder === undefined) return PGlite.create("memory://")
  const said: string[] = []
  const onStderr = (line: string) => {
    said.push(line)
    if (said.length > SHOWN_LINES) said.shift()
    return false
  }
  try {
    // A call returns only after its commit was handed to the operating system.
    return await PGlite.create(folder, { relaxedDurability: false, onStderr })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error([reason, ...said].join("\n"), { cause: error })
  }
}

/** As many lines as PostgreSQL needs to explain why it does not start. */
const SHOWN_LINES = 5

export async function openPglite(host: Host, options: PgliteOptions): Promise<Database> {
  const { schema } = options
  const pglite = options.instance ?? (await createPglite())
  const inside = new AsyncLocalStorage<{ open: boolean }>()
  const listeners = new Set<() => void>()
  let closed = false

  async function query<P, R>(on: Queryable, statement: Statement<P, R>, params: P): Promise<R[]> {
    try {
      const result = await on.query<(string | null)[]>(
        statement.text(schema),
        statement.bind(params),
        AS_TEXT,
      )
      return statement.read(
        result.fields.map((field) => field.name),
        result.rows,
      )
    } catch (error) {
      throw error instanceof TypeError ? error : translateError(error, statement.name)
    }
  }

  const speak = (word: WakeUp) => () => pglite.query(word.text(schema), [...word.values], AS_TEXT)

  /** There is one connection, so a call beside the transaction that contains it would wait for itself. */
  function refuseNesting(label: string): void {
    if (closed) throw closedError()
    if (!inside.getStore()?.open) return
    throw new CarillonError(
      "TRANSACTION_NESTED",
      "A call was made inside an open transaction, but not in that transaction. Give it the transaction, as " +
        `\`{ tx }\`, or make it afterwards: PGlite has one connection, so it would wait for ever (${label}).`,
    )
  }

  const deadlineOf = (call: CallOptions): number =>
    host.monotonicMs() + (call.deadlineMs ?? DEFAULTS.deadlineMs)

  return {
    engine: "pglite",
    schema,
    abilities: { connections: false, processes: false },
    run: async (statement, params, call = {}) => {
      refuseNesting(statement.name)
      if (call.unless?.aborted) throw closedError()
      const { plan } = statement
      call.onSent?.()
      const work =
        plan === "free" || plan === "alone"
          ? query(pglite, statement, params)
          : pglite.transaction(async (tx) => {
              if (call.unless?.aborted) throw closedError()
              await tx.exec(PLANNED[plan])
              return query(tx, statement, params)
            })
      if (call.behind)
        void work
          .then(speak(call.behind), speak(call.behind))
          .catch(() => {})
          .finally(call.behind.onEnd)
      return withDeadline(host, { atMs: deadlineOf(call), work, onLate: () => deadlineError(statement.name) })
    },
    transaction: async (body, call = {}) => {
      refuseNesting("transaction")
      const atMs = deadlineOf(call)
      let late = false
      const onLate = () => {
        late = true
        return deadlineError("transaction")
      }
      const work = pglite.transaction(async (tx) => {
        // The call timed out while it waited, and its caller already has the error.
        if (late) throw onLate()
        call.onSent?.()
        if (call.unless?.aborted) throw closedError()
        const token = { open: true }
        let failed = false
        const noteFailure = (error: unknown): never => {
          failed = true
          throw error
        }
        const running = inside.run(token, () =>
          body({
            run: (statement, params) => query(tx, statement, params).catch(noteFailure),
            query: async (text, values) => {
              const sent = tx.query<Record<string, unknown>>(text, [...values])
              const result = await sent.catch((error) =>
                noteFailure(translateError(error, "a statement of the handler")),
              )
              return { rows: result.rows, rowCount: result.affectedRows || result.rows.length }
            },
            script: async (sql) => {
              await tx
                .exec(resolveNames(sql, schema))
                .catch((error) => noteFailure(translateError(error, "script")))
            },
          }),
        )
        try {
          const result = await withDeadline(host, { atMs, work: running, onLate })
          if (failed) throw rolledBack()
          return result
        } finally {
          token.open = false
        }
      })
      return withDeadline(host, { atMs, work, onLate })
    },
    listen: async (channel, onMessage) => {
      refuseNesting("listen")
      // Not `pglite.listen`, which does not find its channels again if their names need quotes.
      await pglite.exec(`listen ${quoteIdentifier(channel)}`)
      const stop = pglite.onNotification((from, payload) => from === channel && onMessage(payload))
      listeners.add(stop)
      return { close: async () => stop() }
    },
    close: async () => {
      if (closed) return
      closed = true
      for (const stop of listeners) stop()
      if (!options.instance) await pglite.close()
    },
  }
}
