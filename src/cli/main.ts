#!/usr/bin/env node
/** The `carillon` command: finds the command, reads its options, runs it, and exits with its code. */
import { parseArgs } from "node:util"
import { CarillonError } from "../errors.ts"
import { nearest } from "../options/nearest.ts"
import { createSystemHost, createSystemTerminal } from "../runtime/system.ts"
import { type Command, type CommandCall, UsageError } from "./command.ts"
import { cronExplain } from "./cron-explain.ts"
import { dbExport } from "./db-export.ts"
import { dbGrant } from "./db-grant.ts"
import { dbImport } from "./db-import.ts"
import { dbMigrate } from "./db-migrate.ts"
import { dbPlan } from "./db-plan.ts"
import { dbStatus } from "./db-status.ts"
import { demo } from "./demo.ts"
import { commandHelp, generalHelp } from "./help.ts"
import { readVersion } from "./version.ts"

const COMMANDS: readonly Command[] = [
  demo,
  cronExplain,
  dbPlan,
  dbMigrate,
  dbGrant,
  dbStatus,
  dbExport,
  dbImport,
]

/** 0: done. 1: it failed. 2: the call itself was wrong. */
const FAILED = 1
const MISUSED = 2

const host = createSystemHost()
const terminal = createSystemTerminal()
await main(terminal.args).catch((error: unknown) => {
  const isMisuse =
    error instanceof UsageError || (error instanceof CarillonError && error.code === "OPTIONS_INVALID")
  terminal.printError(error instanceof CarillonError ? `${error.code}: ${error.message}` : messageOf(error))
  terminal.setExitCode(isMisuse ? MISUSED : FAILED)
})

async function main(args: readonly string[]): Promise<void> {
  const [first] = args
  if (first === undefined || first === "--help" || first === "-h")
    return terminal.print(generalHelp(COMMANDS))
  if (first === "--version") return terminal.print(await readVersion())
  const command = COMMANDS.find(({ words }) => startsWith(args, words.split(" ")))
  if (!command) throw new UsageError(unknownCommand(args))
  const rest = args.slice(command.words.split(" ").length)
  if (rest.includes("--help") || rest.includes("-h")) return terminal.print(commandHelp(command))
  await command.run({ host, terminal, ...readCall(command, rest) })
}

function readCall(command: Command, args: readonly string[]): Pick<CommandCall, "argument" | "values"> {
  const { values, positionals } = parseOptions(command, args)
  const wanted = command.argument === undefined ? 0 : 1
  if (positionals.length !== wanted) {
    const problem =
      positionals.length > wanted
        ? "Too many arguments; quote what belongs together."
        : "An argument is missing."
    throw new UsageError(`${problem}\n\n${commandHelp(command)}`)
  }
  // `--database "$UNSET"` is a mistake, and does not ask for the default.
  const empty = Object.keys(values).find((name) => values[name as keyof typeof values] === "")
  if (empty !== undefined) throw new UsageError(`--${empty} was given without a value.`)
  return { argument: positionals[0], values: values as CommandCall["values"] }
}

function parseOptions(command: Command, args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { ...command.options },
      strict: true,
      allowPositionals: true,
    })
  } catch (error) {
    throw new UsageError(`${messageOf(error)}\n\n${commandHelp(command)}`)
  }
}

function startsWith(args: readonly string[], words: readonly string[]): boolean {
  return words.every((word, index) => args[index] === word)
}

/** Names only the words before the first option: an option may hold a password. */
function unknownCommand(args: readonly string[]): string {
  const firstOption = args.findIndex((arg) => arg.startsWith("-"))
  const words = (firstOption < 0 ? args : args.slice(0, firstOption)).join(" ")
  if (words === "") return "The command comes first, then its options. Run `carillon --help` for the list."
  const meant = nearest(
    words,
    COMMANDS.map((command) => command.words),
  )
  const hint = meant ? `Did you mean "carillon ${meant}"?` : "Run `carillon --help` for the list."
  return `Unknown command "${words}". ${hint}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
