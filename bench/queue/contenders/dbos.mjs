/**
 * DBOS queues. What runs is a workflow, recorded with its input and its result; a workflow without steps is the least
 * it can do. Queues are polled: the interval can be made short, and that is its best setting.
 */
import { pg } from "../../tools/driver.mjs"

const NAME = "noop"
const APPLICATION = "bench"
const BULK = { batch: 1_000, inFlight: 4 }
const DRAIN = { concurrency: 1_000, pollMs: 5, connections: 20 }
/** Its function for other languages, which takes many when it is called for each row. */
const ENQUEUE_SQL = `
  select count(dbos.enqueue_workflow(
    workflow_name => '${NAME}', queue_name => '${NAME}', positional_args => array[input]
  )) from json_array_elements($1::json) as input`

let onJob = () => {}
let loading

/** There is one of it in a process, and its workflows are registered once. */
async function load() {
  const sdk = await import("@dbos-inc/dbos-sdk")
  sdk.DBOS.registerWorkflow(async (input) => onJob(input), { name: NAME })
  return sdk
}

export const contender = {
  title: "DBOS queues",
  package: "@dbos-inc/dbos-sdk",
  on: "postgres",
  share: 0.1,
  /** By half at the least. */
  farBehindIn: ["bulk", "drain", "sleep", "both", "snapshot", "delayed", "latency"],
  settings: {
    bulk: BULK,
    bulkSql: { batch: 10_000, inFlight: 2, sql: true },
    single: { connections: 20 },
    drain: DRAIN,
    sleep: { concurrency: 10, pollMs: 1, connections: 20 },
    both: { ...DRAIN, batch: 1_000, inFlight: 1, sql: true },
    /** Its function knows no delay. */
    delayed: { ...DRAIN, batch: 1_000, inFlight: 1 },
    latency: { concurrency: 100, pollMs: 5, connections: 20 },
  },
  tried: {
    bulk: [
      { batch: 100, inFlight: 4 },
      { batch: 1_000, inFlight: 2 },
      { batch: 1_000, inFlight: 4 },
      { batch: 1_000, inFlight: 8 },
      { batch: 10_000, inFlight: 4 },
    ],
    bulkSql: [
      { batch: 1_000, inFlight: 2, sql: true },
      { batch: 10_000, inFlight: 1, sql: true },
      { batch: 10_000, inFlight: 2, sql: true },
    ],
    single: [{ connections: 10 }, { connections: 20 }, { connections: 64 }],
    drain: [
      { concurrency: 100, pollMs: 5, connections: 20 },
      { concurrency: 1_000, pollMs: 5, connections: 10 },
      { concurrency: 1_000, pollMs: 5, connections: 20 },
      { concurrency: 1_000, pollMs: 5, connections: 50 },
      { concurrency: 1_000, pollMs: 50, connections: 20 },
      { concurrency: 5_000, pollMs: 50, connections: 20 },
    ],
    sleep: [
      { concurrency: 10, pollMs: 1, connections: 20 },
      { concurrency: 10, pollMs: 5, connections: 20 },
    ],
    both: [
      { ...DRAIN, batch: 1_000, inFlight: 1 },
      { ...DRAIN, batch: 1_000, inFlight: 2 },
      { ...DRAIN, concurrency: 300, batch: 1_000, inFlight: 1 },
      { ...DRAIN, batch: 1_000, inFlight: 1, sql: true },
    ],
    latency: [
      { concurrency: 100, pollMs: 1, connections: 20 },
      { concurrency: 100, pollMs: 5, connections: 20 },
      { concurrency: 100, pollMs: 20, connections: 20 },
    ],
  },
  left: `from dbos.workflow_status where queue_name = '${NAME}' and status in ('ENQUEUED', 'PENDING', 'DELAYED')`,
  kept: `from dbos.workflow_status where queue_name = '${NAME}' and status = 'SUCCESS'`,
  tables: ["dbos.workflow_status"],
  depth: `from dbos.workflow_status where queue_name = '${NAME}' and status = 'ENQUEUED'`,
  harness: (workers) => ({ ...DRAIN, concurrency: workers, sql: true }),
  keepsHistory: () => true,

  open: async (url, settings) => {
    const { connections = 20, concurrency, pollMs, sql } = settings
    loading ??= load()
    const { DBOS, DBOSClient } = await loading
    await migrate(DBOS, url)
    const client = await DBOSClient.create({
      systemDatabaseUrl: url,
      systemDatabasePoolSize: connections,
      applicationName: APPLICATION,
      logger: LOGGER,
    })
    const pool = new pg.Pool({ connectionString: url, max: connections })
    pool.on("error", complain)
    const target = { queueName: NAME, workflowName: NAME }
    let isLaunched = false
    return {
      enqueueMany: async (inputs, { delayMs } = {}) => {
        if (sql && delayMs !== undefined) throw new Error("its function knows no delay")
        if (sql) return pool.query(ENQUEUE_SQL, [JSON.stringify(inputs)])
        const options = delayMs === undefined ? target : { ...target, delaySeconds: delayMs / 1_000 }
        // It has no call for many; its call inside a transaction of one's own saves the commits.
        return inTransaction(pool, async (connection) => {
          for (const input of inputs) await client.enqueueInTransaction(connection, options, input)
        })
      },
      enqueue: (input) => client.enqueue(target, input),
      start: async (handle) => {
        onJob = handle
        configure(DBOS, url, { systemDatabasePoolSize: connections })
        // Before it is launched, otherwise it looks for new queues a second later.
        await client.registerQueue(NAME, { workerConcurrency: concurrency, minPollingIntervalMs: pollMs })
        await DBOS.launch()
        isLaunched = true
      },
      close: async () => {
        if (isLaunched) await DBOS.shutdown()
        await client.destroy()
        await pool.end()
      },
    }
  },
}

/** Its tables are made when it is launched. */
async function migrate(DBOS, url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query("select to_regclass('dbos.workflow_status') is not null as exists")
  await client.end()
  if (rows[0].exists) return
  configure(DBOS, url, { listenQueues: [] })
  await DBOS.launch()
  await DBOS.shutdown()
}

function configure(DBOS, url, more) {
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: url,
    logger: LOGGER,
    applicationVersion: "1",
    // A process that has the name of another takes over what that one is executing.
    executorID: `bench-${process.pid}`,
    ...more,
  })
}

async function inTransaction(pool, work) {
  const connection = await pool.connect()
  // A connection that is lent out tells no other listener that it broke.
  connection.on("error", complain)
  let failure
  try {
    await connection.query("begin")
    await work(connection)
    await connection.query("commit")
  } catch (error) {
    failure = error
    throw error
  } finally {
    connection.off("error", complain)
    connection.release(failure)
  }
}

const LOGGER = { debug() {}, info() {}, warn: complain, error: complain }

function complain(message) {
  console.error(`dbos: ${message instanceof Error ? message.message : JSON.stringify(message)}`)
}
