/** The PostgreSQL driver that Carillon itself loads. Peers bring a copy of their own into bench/node_modules. */
import { createRequire } from "node:module"

export const pg = createRequire(new URL("../../package.json", import.meta.url))("pg")

/** The next statement notices a connection that broke. */
export async function connect(url) {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => {})
  await client.connect()
  return client
}
