/** What `--help` prints. */
import type { Command } from "./command.ts"

export function generalHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ words }) => words.length))
  const lines = commands.map(({ words, summary }) => `  carillon ${words.padEnd(width)}  ${summary}`)
  return [
    "Carillon: durable jobs and schedules on PostgreSQL.",
    "",
    ...lines,
    "",
    "`carillon COMMAND --help` explains the options of a command.",
  ].join("\n")
}

export function commandHelp({ words, summary, options }: Command): string {
  const lines = Object.entries(options).map(([name, { type, help }]) => {
    const usage = type === "boolean" ? `--${name}` : `--${name} VALUE`
    return `  ${usage.padEnd(20)}  ${help}`
  })
  return [`carillon ${words}: ${summary}`, "", ...lines].join("\n")
}
