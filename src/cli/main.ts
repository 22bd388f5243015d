#!/usr/bin/env node
/** The `carillon` command: finds the command that is meant, reads its options, runs it, and ends with the right code. */
import { parseArgs } from "node:util"
import { CarillonError } from "../errors.ts"
import { nearest } from "../options/nearest.ts"
import { createSystemHost, createSystemTerminal } from "../runtime/system.ts"
import type { Command } from "./command.ts"
import { dbMigrate } from "./db-migrate.ts"
import { dbPlan } from "./db-plan.ts"
import { demo } from "./demo.ts"
import { commandHelp, generalHelp } from "./help.ts"

const COMMANDS: readonly Command[] = [demo, dbPlan, dbMigrate]

/** 0: done. 1: it failed. 2: the call itself was wrong. */
const FAILED = 1
const MISUSED = 2

const host = createSystemHost()
const terminal = createSystemTerminal()
await main(terminal.args).catch((error: unknown) => {
  terminal.printError(error instanceof CarillonError ? `${error.code}: ${error.message}` : String(error))
  terminal.setExitCode(FAILED)
})

async function main(args: readonly string[]): Promise<void> {
  const words = args.filter((arg) => !arg.startsWith("-"))
  const command = COMMANDS.find(({ words: own }) => words.slice(0, own.split(" ").length).join(" ") === own)
  const wantsHelp = args.includes("--help") || args.includes("-h")
  if (!command) {
    if (words.length === 0) return terminal.print(generalHelp(COMMANDS))
    return misuse(unknownCommand(words.join(" ")))
  }
  if (wantsHelp) return terminal.print(commandHelp(command))
  const values = parseOptions(command, args)
  if (values) await command.run({ host, terminal, values })
}

function parseOptions(command: Command, args: readonly string[]) {
  const own = command.words.split(" ")
  try {
    const { values } = parseArgs({
      args: withoutWords(args, own),
      options: { ...command.options },
      strict: true,
    })
    return values as Record<string, string | boolean | undefined>
  } catch (error) {
    misuse(`${error instanceof Error ? error.message : error}\n\n${commandHelp(command)}`)
    return undefined
  }
}

/** The arguments without the words of the command, wherever they stand. */
function withoutWords(args: readonly string[], words: readonly string[]): string[] {
  const left = [...words]
  return args.filter((arg) => {
    const isWord = arg === left[0]
    if (isWord) left.shift()
    return !isWord
  })
}

function unknownCommand(words: string): string {
  const meant = nearest(
    words,
    COMMANDS.map((command) => command.words),
  )
  const hint = meant ? `Did you mean "carillon ${meant}"?` : "Run `carillon --help` for the list."
  return `Unknown command "${words}". ${hint}`
}

function misuse(message: string): void {
  terminal.printError(message)
  terminal.setExitCode(MISUSED)
}
