/**
 * A process that migrates: `node migrate-child.mjs <{ url, schema, migrations } as JSON>`.
 *
 * Prints "ready", waits for a line of input, then prints as JSON which versions it has applied.
 */
import { once } from "node:events"
import { createSystemHost } from "../../dist/runtime/system.js"
import { migrate } from "../../dist/store/migrate.js"
import { openServer } from "../../dist/store/server/server.js"

const { url, schema, migrations } = JSON.parse(process.argv[2] ?? "{}")
const host = createSystemHost()
const database = openServer(host, { url, schema })

console.log("ready")
await once(process.stdin, "data")
console.log(JSON.stringify(await migrate({ ...host, database }, migrations)))
await database.close()
process.stdin.destroy()
