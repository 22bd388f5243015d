/**
 * `carillon db status`: shows what runs, where, how large it is, since when, and which processes use it. Changes
 * nothing.
 */
import { readStatus, type ServerStatus, type Status } from "../api/status.ts"
import { formatInstant } from "../time/instant.ts"
import type { Command } from "./command.ts"
import { OUTPUT_OPTION, readOutput } from "./output.ts"
import { DATABASE_SETTINGS, databaseOptionsOf } from "./settings/database.ts"

export const dbStatus: Command = {
  words: "db status",
  summary: "what is running, where, how large, since when, and who uses it",
  settings: DATABASE_SETTINGS,
  options: OUTPUT_OPTION,
  run: async (call) => {
    const output = readOutput(call)
    const status = await readStatus(call.host, databaseOptionsOf(await call.readSettings()))
    call.terminal.print(output === "json" ? JSON.stringify(status, null, 2) : describeStatus(status))
  },
}

type Line = readonly [label: string, text: string]

function describeStatus(status: Status): string {
  if (status.folder === null) return "There is no data folder here: no embedded server has run yet."
  const lines = [...folderLines(status), ...(status.server ? serverLines(status.server) : [])]
  const width = Math.max(...lines.map(([label]) => label.length)) + 2
  return lines.map(([label, text]) => `${label.padEnd(width)}${text}`).join("\n")
}

function folderLines({ folder, pglite }: Status): Line[] {
  if (!folder) return []
  const { path, version, bytes, log, server, owners } = folder
  if (pglite) {
    const { holder } = pglite
    const since = holder?.sinceMs === undefined ? "" : `, since ${timeOf(holder.sinceMs)}`
    return [
      ["data folder", `${path} (${sizeOf(bytes)})`],
      ["data", "of PGlite, which serves one process"],
      ["in use by", holder ? `process ${holder.pid}${since}` : "no process"],
    ]
  }
  const lines: Line[] = [
    ["data folder", `${path} (${sizeOf(bytes)})`],
    ["data", version === undefined ? "none yet" : `written by PostgreSQL ${version}`],
  ]
  if (!server) return [...lines, ["server", "not running"], ["log", log]]
  const guard = server.isGuarded ? "" : ", unguarded: it stays until the next start"
  lines.push(["server", `${server.status}, process ${server.pid}, since ${timeOf(server.sinceMs)}${guard}`])
  if (server.address !== undefined) lines.push(["address", server.address])
  lines.push(["log", log])
  lines.push(["owners", owners.length === 0 ? "none" : ""])
  for (const { pid, sinceMs, program } of owners) {
    lines.push(["", `process ${pid}${program ? ` (${program})` : ""}, since ${timeOf(sinceMs)}`])
  }
  return lines
}

function serverLines(server: ServerStatus): Line[] {
  const { version, startedAtMs, database, databaseBytes, schema, schemaBytes, connections, workers } = server
  const { missing } = server
  const upToDate =
    missing === 0 ? "up to date" : `lacks ${missing} ${missing === 1 ? "migration" : "migrations"}`
  const lines: Line[] = [
    ["PostgreSQL", `${version}, since ${timeOf(startedAtMs)}`],
    ["database", `${database} (${sizeOf(databaseBytes)}), ${connections} other connections`],
    ["schema", `${schema} (${sizeOf(schemaBytes)}), ${upToDate}`],
    ["workers", workers.length === 0 ? "none" : ""],
  ]
  for (const { hostname, pid, pools, startedAtMs: since, isLate } of workers) {
    const late = isLate ? ", silent: its lease is over" : ""
    lines.push(["", `process ${pid} on ${hostname}, pools ${pools}, since ${timeOf(since)}${late}`])
  }
  return lines
}

function timeOf(ms: number): string {
  return formatInstant(ms)
}

function sizeOf(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"]
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const scaled = bytes / 1_000 ** step
  return `${scaled.toFixed(step === 0 || scaled >= 100 ? 0 : 1)} ${units[step]}`
}
