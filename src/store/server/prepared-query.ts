/**
 * Sends a prepared statement through the driver with the least work.
 *
 * The driver's own query has the columns of every answer described, looks up a parser for each, and copies each row.
 * Here values stay the text that the server sent. The columns of a prepared statement cannot change, so they are asked
 * for once per connection.
 */
import pg from "pg"
import type { Answer } from "./command.ts"

export interface Prepared {
  /** The name under which it is prepared. */
  readonly name: string
  readonly text: string
  readonly values: readonly (string | null)[]
}

/** The columns of the statements prepared on one connection, by name. */
export type KnownColumns = Map<string, readonly string[]>

/** Sends the statement as soon as the driver can, and resolves with the server's answer. */
export function sendPrepared(client: pg.Client, prepared: Prepared, known: KnownColumns): Promise<Answer> {
  return new Promise((resolve, reject) => {
    client.query(new PreparedQuery(prepared, known, { resolve, reject }))
  })
}

/** What the driver offers to the queries that it sends. */
interface Wire {
  /** By name: what the server has prepared, and what was sent for preparation. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>
  readonly submittedNamedStatements: Record<string, string | undefined>
  readonly parse: (message: { readonly name: string; readonly text: string }) => void
  readonly bind: (message: { readonly statement: string; readonly values: Prepared["values"] }) => void
  readonly describe: (message: { readonly type: "P"; readonly name: "" }) => void
  readonly execute: (message: Record<string, never>) => void
  readonly sync: () => void
}

interface Listener {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** In pipeline mode the driver takes only its own queries. This one extends it and does less. */
class PreparedQuery extends pg.Query {
  // The driver, and tools that watch it, read these names to know what a query is about.
  readonly name: string
  readonly text: string
  readonly values: Prepared["values"]
  readonly callback: (error: Error) => void
  readonly #known: KnownColumns
  readonly #listener: Listener
  readonly #rows: (readonly (string | null)[])[] = []
  #columns: readonly string[] | undefined
  #command: string | undefined

  constructor({ name, text, values }: Prepared, known: KnownColumns, listener: Listener) {
    super(text)
    this.name = name
    this.text = text
    this.callback = listener.reject
    this.values = values
    this.#known = known
    this.#listener = listener
    this.#columns = known.get(name)
  }

  /** The driver calls this when the query's turn to be sent has come. */
  prepare(wire: Wire): void {
    const { name, text } = this
    if (wire.parsedStatements[name] === undefined && wire.submittedNamedStatements[name] === undefined) {
      wire.parse({ name, text })
      wire.submittedNamedStatements[name] = text
    }
    try {
      wire.bind({ statement: name, values: this.values })
      if (this.#columns === undefined) wire.describe({ type: "P", name: "" })
      wire.execute({})
    } catch (error) {
      // The values do not fit into any message. The messages sent before them still need their answer.
      this.callback(error as Error)
    }
    wire.sync()
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string }[] }): void {
    this.#columns = fields.map(({ name }) => name)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#rows.push(fields)
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#command = text.split(" ", 1)[0] ?? ""
  }

  handleReadyForQuery(): void {
    // Nothing was executed, and the caller has its error already.
    if (this.#command === undefined) return
    // A statement that describes no columns returns no rows.
    const columns = this.#columns ?? []
    this.#known.set(this.name, columns)
    this.#listener.resolve({ command: this.#command, columns, rows: this.#rows })
  }
}
