/** What a command is: its words, its settings and options, and what it does. */
import type { Host } from "../runtime/host.ts"
import type { Terminal } from "../runtime/terminal.ts"
import type { Settings } from "./settings/read.ts"
import type { SettingName } from "./settings/table.ts"

export interface Command {
  /** The words that call it, such as `db plan`. */
  readonly words: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What its help says after the options: examples, limits. */
  readonly more?: string
  /** The name of its argument, if it takes one. */
  readonly argument?: string
  /** The settings that it uses. Each comes from a flag, the environment, the file of configuration or a default. */
  readonly settings?: readonly SettingName[]
  /** Options that only this command has. They come from the command line alone. */
  readonly options?: Readonly<Record<string, CommandOption>>
  readonly run: (call: CommandCall) => Promise<void>
}

export interface CommandOption {
  /** The letter, if it has a short form. */
  readonly short?: string
  /** The name of its value in the help. An option without a value is a switch. */
  readonly value?: string
  readonly help: string
}

export interface CommandCall {
  readonly host: Host
  readonly terminal: Terminal
  readonly argument: string | undefined
  /** The options of the command. */
  readonly values: Readonly<Record<string, string | boolean | undefined>>
  /** Reads the environment and the file of configuration, and so the settings of the command. */
  readonly readSettings: () => Promise<Settings>
}
