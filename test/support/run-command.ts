/** Runs a program to its end, or until it prints a text, as a person at a terminal would. */
import { spawn } from "node:child_process"

export interface RunningCommand {
  /** Resolves when the output contains `text`; rejects when the program ends before. */
  readonly says: (text: string) => Promise<void>
  /** The same for a pattern. */
  readonly finds: (pattern: RegExp) => Promise<RegExpExecArray>
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
  function finds(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output)
        if (!found) return
        watchers.delete(look)
        resolve(found)
      }
      watchers.add(look)
      look()
      void ended.then(() => reject(new Error(`ended without saying ${pattern}:\n${output}`)))
    })
  }

  return {
    finds,
    says: async (text) => {
      await finds(new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    },
    kill: (signal) => {
      child.kill(signal)
    },
    ended,
  }
}
