/** Runs a program to its end, or until it prints a text, as a person at a terminal would. */
import { spawn } from "node:child_process"

export interface RunningCommand {
  /** Resolves when the output contains `text`; rejects when the program ends before. */
  readonly says: (text: string) => Promise<void>
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>
}

export function runCommand(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): RunningCommand {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  const watchers = new Set<() => void>()
  const take = (chunk: string) => {
    output += chunk
    for (const look of [...watchers]) look()
  }
  child.stdout.setEncoding("utf8").on("data", take)
  child.stderr.setEncoding("utf8").on("data", take)
  const ended = new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, output }))
  })
  return {
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!output.includes(text)) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
        void ended.then(() => reject(new Error(`ended without saying ${JSON.stringify(text)}:\n${output}`)))
      }),
    kill: (signal) => {
      child.kill(signal)
    },
    ended,
  }
}
