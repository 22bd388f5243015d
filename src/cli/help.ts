/** What `--help` prints. */
import type { Command } from "./command.ts"

export function generalHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => usageOf(command).length))
  const lines = commands.map((command) => `  carillon ${usageOf(command).padEnd(width)}  ${command.summary}`)
  return [
    "Carillon: durable jobs and schedules on PostgreSQL.",
    "",
    ...lines,
    "",
    "`carillon COMMAND --help` explains the options of a command.",
  ].join("\n")
}

export function commandHelp(command: Command): string {
  const lines = Object.entries(command.options).map(([name, { type, short, help }]) => {
    const usage = `${short ? `-${short}, ` : ""}--${name}${type === "boolean" ? "" : " VALUE"}`
    return `  ${usage.padEnd(20)}  ${help}`
  })
  return [`carillon ${usageOf(command)}: ${command.summary}`, "", ...lines].join("\n")
}

function usageOf({ words, argument }: Command): string {
  return argument === undefined ? words : `${words} '${argument}'`
}
