import { int, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Opens a lease for this process.
 *
 * Guarantee: the id is new. A dead lease is never revived; its process takes another.
 */
export const registerWorker = statement({
  name: "workers/register",
  params: {
    lease: uuid,
    hostname: text,
    pid: int,
    home: nullable(text),
    born: nullable(text),
    pools: list(text),
    jobs: list(text),
    version: nullable(text),
    leaseMs: int,
  },
  returns: {},
  sql: `
  insert into {workers} (lease, hostname, pid, home, born, pools, jobs, version, started_at, expires_at)
  values (@lease, @hostname, @pid, @home, @born, @pools, @jobs, @version,
    {now}, {now} + @leaseMs * interval '1 millisecond')
`,
})
