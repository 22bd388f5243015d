/** The program of the heartbeat's thread: one connection, one loop. Its file name is unlikely to clash in a bundle. */
import { recordError } from "../../../queue/error-record.ts"
import type { ThreadInside } from "../../../runtime/host.ts"
import { createSystemThreadInside } from "../../../runtime/system.ts"
import { openServer } from "../../../store/server/server.ts"
import { runLoop } from "../../loop.ts"
import { createBeat, obey } from "./beat.ts"
import type { FromThread, ThreadSetup, ToThread } from "./board.ts"

async function run({ host, data, send, onMessage, leave }: ThreadInside): Promise<void> {
  const { address, schema, ...times } = data as ThreadSetup
  const tell = (message: FromThread) => send(message)
  const database = openServer(host, { url: address, schema, vitalConnections: 1 })
  const beat = createBeat({ runtime: { ...host, database }, times, tell })
  const stopped = new AbortController()
  onMessage((message) => obey(beat, message as ToThread, () => stopped.abort()))
  const onFailure = (error: unknown, failures: number) => tell(failureOf(error, failures, host.monotonicMs()))
  await runLoop(host, beat, onFailure, stopped.signal)
  await database.close()
  leave()
}

/** An error loses its class on the way to another thread. The message survives. */
function failureOf(error: unknown, failures: number, atMs: number): FromThread {
  return { kind: "failed", message: recordError(error).message, failures, atMs }
}

const inside = createSystemThreadInside()
if (inside !== undefined) void run(inside)
