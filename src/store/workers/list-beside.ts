import { int, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/** The leases of other processes of the same home, which can be asked for there, that no one has marked dead. */
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
