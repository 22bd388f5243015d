/** The option `--output` of commands that print for people or for programs. */
import type { CommandCall, CommandOption } from "./command.ts"
import { UsageError } from "./usage-error.ts"

export const OUTPUT_OPTION = {
  output: { short: "o", value: "FORM", help: "text or json (text)" },
} as const satisfies Record<string, CommandOption>

export function readOutput({ values }: CommandCall): "json" | "text" {
  const output = values["output"] ?? "text"
  if (output === "text" || output === "json") return output
  throw new UsageError(`--output is text or json, not ${JSON.stringify(output)}.`)
}
