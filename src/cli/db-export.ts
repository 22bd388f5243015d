/** `carillon db export`: writes everything in a schema, as of one moment, to a file. */
import { exportTo } from "../api/transfer.ts"
import { type Command, chosenDatabaseOf, DATABASE_OPTIONS } from "./command.ts"
import { countAll, runTransfer } from "./transfer-call.ts"
import { readVersion } from "./version.ts"

export const dbExport: Command = {
  words: "db export",
  summary: "write everything into a file, while workers go on",
  argument: "FILE",
  options: { ...DATABASE_OPTIONS, force: { type: "boolean", help: "replace FILE if it is there" } },
  run: (call) => {
    const place = chosenDatabaseOf(call)
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
