import { int, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/** The leases, not marked dead, of other processes with the same home, where their processes can be checked. */
export const listWorkersBeside = statement({
  name: "workers/list-beside",
  params: { own: uuid, home: text },
  returns: { lease: uuid, pid: int, born: text },
  sql: `
  select lease, pid, born
  from {workers}
  where not dead and lease <> @own and home = @home and born is not null
`,
})
