/** What is sent to a server, and what it answers. */
export interface Command {
  /** What is being run, for error messages. */
  readonly label: string
  readonly text: string
  readonly values?: readonly (string | null)[]
  /** Prepared once per connection under this name; only on direct connections. */
  readonly prepare?: boolean
}

export interface Answer {
  readonly command: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
}
