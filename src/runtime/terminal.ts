/** The terminal of a command: its arguments, its output, Ctrl-C and its exit code. */

export interface Terminal {
  /** The arguments after the name of the program. */
  readonly args: readonly string[]
  readonly print: (line: string) => void
  readonly printError: (line: string) => void
  /** Calls back on every Ctrl-C, on every request to terminate, and when the reader of the output is gone. */
  readonly onInterrupt: (handler: () => void) => void
  /** The exit code for when nothing is left to do. */
  readonly setExitCode: (code: number) => void
}
