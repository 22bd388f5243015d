/** `carillon db import`: reads an export into an empty schema. */
import { importFrom } from "../api/transfer.ts"
import type { Command } from "./command.ts"
import { chosenDatabaseOf, DATABASE_SETTINGS } from "./settings/database.ts"
import { countAll, runTransfer } from "./transfer-call.ts"

export const dbImport: Command = {
  words: "db import",
  summary: "bring an export into an empty schema, all of it or nothing",
  argument: "FILE",
  settings: DATABASE_SETTINGS,
  run: async (call) => {
    const place = await chosenDatabaseOf(call)
    return runTransfer(call, async ({ file, signal, onTable }) => {
      const { header, tables, held } = await importFrom(call.host, place, { file, signal, onTable })
      const source = `exported at ${header.exportedAt} from PostgreSQL ${header.server}`
      const done = `Imported ${countAll(tables)}, ${source}. The schema is up to date.`
      return held === 0 ? done : `${done}\n${heldWords(held)}`
    })
  },
}

/** The reaper takes them back when their leases have expired. */
function heldWords(held: number): string {
  const runs = held === 1 ? "1 run was" : `${held.toLocaleString("en")} runs were`
  return `${runs} being executed at that time, and will be taken up again a minute after a worker has started.`
}
