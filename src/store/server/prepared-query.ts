/**
 * A prepared statement on its way through the driver, with no more than we ask for.
 *
 * The driver's own query has the columns of every answer described, looks for a parser for each of them, and copies each
 * row. Here values stay the text that the server sent, and what a statement returns cannot change while it is prepared, so
 * its columns are asked for once on each connection.
 */
import pg from "pg"
import type { Answer } from "./command.ts"

export interface Prepared {
  /** By which it is prepared. */
  readonly name: string
  readonly text: string
  readonly values: readonly (string | null)[]
}

/** The columns of what has been prepared on one connection, by name. */
export type KnownColumns = Map<string, readonly string[]>

/** Sends it as soon as the driver can, and resolves with what the server answers. */
export function sendPrepared(client: pg.Client, prepared: Prepared, known: KnownColumns): Promise<Answer> {
  return new Promise((resolve, reject) => {
    client.query(new PreparedQuery(prepared, known, { resolve, reject }))
  })
}

/** What the driver offers to the queries that it sends. */
interface Wire {
  /** By name: what the server has prepared, and what it was asked to. */
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

/** In a pipeline the driver takes none but its own queries; this one is, and does less. */
class PreparedQuery extends pg.Query {
  // Under these names the driver, and whoever watches it, knows what a query is about.
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

  /** Called by the driver when it is this query's turn to be sent. */
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
      // Values that do not fit into any message. What was sent before them has to be answered all the same.
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
    // Nothing was executed, and whoever asked knows why.
    if (this.#command === undefined) return
    // What is described as nothing returns no rows.
    const columns = this.#columns ?? []
    this.#known.set(this.name, columns)
    this.#listener.resolve({ command: this.#command, columns, rows: this.#rows })
  }
}
