/** The terminal that a command talks to: its words, its output, Ctrl-C and its exit code. */

export interface Terminal {
  /** The words after the program's name. */
  readonly args: readonly string[]
  readonly print: (line: string) => void
  readonly printError: (line: string) => void
  /** Calls back for every Ctrl-C, every request to terminate, and when nobody reads the output any more. */
  readonly onInterrupt: (handler: () => void) => void
  /** The code to end with once nothing is left to do. */
  readonly setExitCode: (code: number) => void
}
