#!/usr/bin/env node
/** The `carillon` command: finds the command, reads its options, runs it, and exits with its code. */
import { CarillonError } from "../errors.ts"
import { createSystemHost, createSystemTerminal } from "../runtime/system.ts"
import type { Command } from "./command.ts"
import { config } from "./config.ts"
import { cronExplain } from "./cron-explain.ts"
import { dbExport } from "./db-export.ts"
import { dbGrant } from "./db-grant.ts"
import { dbImport } from "./db-import.ts"
import { dbMigrate } from "./db-migrate.ts"
import { dbPlan } from "./db-plan.ts"
import { dbStatus } from "./db-status.ts"
import { dev } from "./dev.ts"
import { exitCodeOf } from "./exit-codes.ts"
import { healthcheck } from "./healthcheck.ts"
import { runProgram } from "./program.ts"
import { readSettings } from "./settings/read.ts"
import { start } from "./start.ts"
import { tokenCreate } from "./token-create.ts"
import { tokenList } from "./token-list.ts"
import { tokenRevoke } from "./token-revoke.ts"
import { readVersion } from "./version.ts"

const COMMANDS: readonly Command[] = [
  dev,
  start,
  healthcheck,
  tokenCreate,
  tokenList,
  tokenRevoke,
  config,
  cronExplain,
  dbPlan,
  dbMigrate,
  dbGrant,
  dbStatus,
  dbExport,
  dbImport,
]

const GROUPS = {
  cron: "cron expressions, offline",
  token: "tokens, with which programs and people call the HTTP API",
  db: "the database: its schema, its roles, and moves to another one",
}

const host = createSystemHost()
const terminal = createSystemTerminal()
try {
  await runProgram({
    commands: COMMANDS,
    groups: GROUPS,
    terminal,
    version: await readVersion(),
    onCommand: (command, { argument, values, flags }) =>
      command.run({ host, terminal, argument, values, readSettings: () => readSettings(host, flags) }),
  })
} catch (error) {
  terminal.printError(describe(error))
  terminal.setExitCode(exitCodeOf(error))
}

function describe(error: unknown): string {
  if (error instanceof CarillonError) return `${error.code}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
