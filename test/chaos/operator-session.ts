/** SQL of an operator: over sessions of its own, past every proxy, opened anew when they break. */
import pg from "pg"

export type Row = Readonly<Record<string, unknown>>

export interface Talk {
  /** Over any session. Fails when the server is away. */
  readonly ask: (text: string, values?: readonly unknown[]) => Promise<Row[]>
  /** A session for as long as `use` takes: for transactions and locks. */
  readonly session: <T>(use: (ask: Talk["ask"]) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

/** Rows leave the sessions with this name alone. */
export const NEMESIS = "nemesis"

export function createTalk(url: string): Talk {
  const pool = new pg.Pool({
    connectionString: url,
    max: 20,
    application_name: NEMESIS,
    connectionTimeoutMillis: 5_000,
  })
  pool.on("error", () => {})
  return {
    ask: async (text, values = []) => (await pool.query(text, [...values])).rows,
    session: async (use) => {
      const client = await pool.connect()
      client.on("error", () => {})
      try {
        return await use(async (text, values = []) => (await client.query(text, [...values])).rows)
      } finally {
        // What is half done ends with it.
        client.release(true)
      }
    },
    close: () => pool.end(),
  }
}
