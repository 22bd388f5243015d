/** Makes a program of commander from the commands: it reads arguments, prints help, and suggests what was meant. */
import { Command as Commander, CommanderError, Option } from "commander"
import type { Terminal } from "../runtime/terminal.ts"
import type { Command } from "./command.ts"
import { SETTINGS, type Setting, type SettingName } from "./settings/table.ts"
import { UsageError } from "./usage-error.ts"

/** What was given on the command line. */
export interface ReadArguments {
  readonly argument: string | undefined
  /** By the names of the options. */
  readonly values: Readonly<Record<string, string | boolean | undefined>>
  /** By the names of the settings. */
  readonly flags: Readonly<Partial<Record<SettingName, string | readonly string[]>>>
}

interface ProgramParts {
  readonly commands: readonly Command[]
  /** What the first words of longer commands stand for. */
  readonly groups: Readonly<Record<string, string>>
  readonly terminal: Terminal
  readonly version: string
  readonly onCommand: (command: Command, read: ReadArguments) => Promise<void>
}

const COLUMNS = 80

/** Reads the arguments and runs their command. Throws a `UsageError` if the call is wrong. */
export async function runProgram(parts: ProgramParts): Promise<void> {
  const { terminal } = parts
  const args = terminal.args.length === 0 ? ["--help"] : [...terminal.args]
  try {
    await createProgram(parts).parseAsync(args, { from: "user" })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw new UsageError(describeMisuse(error))
  }
}

function createProgram({ commands, groups, terminal, version, onCommand }: ProgramParts): Commander {
  const leaves: Commander[] = []
  const program = new Commander("carillon")
    .description("Carillon: durable jobs and schedules on PostgreSQL.")
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      getOutHelpWidth: () => COLUMNS,
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: () => {},
    })
  for (const command of commands) {
    const leaf = addCommand(program, command, groups)
    leaves.push(leaf)
    leaf.action(async () => onCommand(command, readArguments(leaf, command)))
  }
  return program
    .configureHelp({ visibleCommands: () => leaves, subcommandTerm: termOf })
    .addHelpText("after", "\n`carillon COMMAND --help` explains the options of a command.")
}

function addCommand(
  program: Commander,
  command: Command,
  groups: Readonly<Record<string, string>>,
): Commander {
  const words = command.words.split(" ")
  const last = words.pop() ?? ""
  const parent = words.reduce((above, word) => {
    const known = above.commands.find((one) => one.name() === word)
    return (
      known ??
      above
        .command(word)
        .description(groups[word] ?? "")
        .helpCommand(false)
    )
  }, program)
  const leaf = parent.command(last).description(command.summary)
  if (command.argument !== undefined) leaf.argument(`<${command.argument}>`)
  for (const name of command.settings ?? []) addFlag(leaf, name)
  for (const [name, { short, value, help }] of Object.entries(command.options ?? {})) {
    const usage = `${short ? `-${short}, ` : ""}--${name}${value ? ` <${value}>` : ""}`
    leaf.addOption(new Option(usage, help))
  }
  if (command.more) leaf.addHelpText("after", `\n${command.more}`)
  return leaf
}

/** The flag of a setting. Its help names the variable and the default, which is the same for every command. */
function addFlag(leaf: Commander, name: SettingName): void {
  const { flag, value, variable, about, shownDefault, isRepeated }: Setting = SETTINGS[name]
  if (flag === undefined) return
  const origin = shownDefault === "" ? variable : `${variable}; ${shownDefault}`
  const option = new Option(`${flag} <${value}>`, `${about} (${origin})`)
  leaf.addOption(isRepeated ? option.argParser(gather) : option)
}

function gather(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value]
}

function readArguments(leaf: Commander, command: Command): ReadArguments {
  const given = leaf.opts<Record<string, string | boolean | readonly string[] | undefined>>()
  // `--database "$UNSET"` is a mistake, and does not ask for the default.
  for (const option of leaf.options) {
    const value = given[option.attributeName()]
    const isEmpty = value === "" || (Array.isArray(value) && value.includes(""))
    if (isEmpty) throw new UsageError(`${option.long} was given without a value.`)
  }
  const flags = (command.settings ?? []).flatMap((name) => {
    const { flag }: Setting = SETTINGS[name]
    const value = flag && given[new Option(flag).attributeName()]
    return value === undefined ? [] : [[name, value] as const]
  })
  const values = Object.keys(command.options ?? {}).map(
    (name) => [name, given[new Option(`--${name}`).attributeName()]] as const,
  )
  return {
    argument: leaf.args[0],
    values: Object.fromEntries(values) as ReadArguments["values"],
    flags: Object.fromEntries(flags) as ReadArguments["flags"],
  }
}

/** All words of a command, for the list of commands. */
function termOf(leaf: Commander): string {
  const words: string[] = []
  for (let one: Commander | null = leaf; one?.parent; one = one.parent) words.unshift(one.name())
  const [argument] = leaf.registeredArguments
  return argument ? `${words.join(" ")} <${argument.name()}>` : words.join(" ")
}

/** Never repeats the value of an option: it may be a password. */
function describeMisuse({ code, message }: CommanderError): string {
  const text = message.replace(/^error: /, "").replace(/('--?[^'=\s]+)=[^']*'/, "$1'")
  if (code === "commander.help") return "The command is not complete. `--help` lists what may follow."
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}`
  return code === "commander.excessArguments" ? `${sentence} Quote what belongs together.` : sentence
}
