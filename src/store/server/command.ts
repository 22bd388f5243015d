/** What Carillon sends to a server, and what the server answers. */
export interface Command {
  /** The name of the command in error messages. */
  readonly label: string
  readonly text: string
  readonly values?: readonly (string | null)[]
  /** Prepare it once per connection under this name; only on direct connections. */
  readonly prepare?: boolean
}

export interface Answer {
  readonly command: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
}
