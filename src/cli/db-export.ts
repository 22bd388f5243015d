/** `carillon db export`: writes everything in a schema, as of one moment, to a file. */
import { exportTo } from "../api/transfer.ts"
import type { Command } from "./command.ts"
import { chosenDatabaseOf, DATABASE_SETTINGS } from "./settings/database.ts"
import { countAll, runTransfer } from "./transfer-call.ts"
import { readVersion } from "./version.ts"

export const dbExport: Command = {
  words: "db export",
  summary: "write everything into a file, while workers go on",
  argument: "FILE",
  settings: DATABASE_SETTINGS,
  options: { force: { help: "replace FILE if it is there" } },
  run: async (call) => {
    const place = await chosenDatabaseOf(call)
    return runTransfer(call, async ({ file, signal, onTable }) => {
      const options = {
        file,
        signal,
        onTable,
        force: call.values["force"] === true,
        madeBy: await readVersion(),
      }
      const { tables, version, bytes, leftOut } = await exportTo(call.host, place, options)
      const size = `${Math.ceil(bytes / 1_000).toLocaleString("en")} kB`
      const done = `Exported ${countAll(tables)}, version ${version} of the schema, to ${file} (${size}).`
      return leftOut.length === 0 ? done : `${done}\nLeft out, not in use by Carillon: ${leftOut.join(", ")}.`
    })
  },
}
