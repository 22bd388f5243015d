/** A worker keeps nothing of its executed runs: its heap is as large after a hundred thousand as after ten. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import { newSchema } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"

const SCRIPT = fileURLToPath(new URL("../support/process/heap.mjs", import.meta.url))
/** Of four kinds: plain, with a key, failing once, and under a limit. */
const RUNS = 10_000
const WARM_UP = 2
const ROUNDS = 10
/** Per run that it has executed since it was warm. */
const MOST_BYTES = 20

it("a worker keeps nothing of its executed runs", { timeout: 240_000 }, async () => {
  const options = {
    database: SERVER_URLS.postgres18,
    schema: newSchema(createSystemHost()),
    runs: RUNS,
    rounds: WARM_UP + ROUNDS,
  }
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--expose-gc",
    SCRIPT,
    JSON.stringify(options),
  ])
  const heaps = (JSON.parse(stdout) as number[]).slice(WARM_UP - 1)
  expect(heaps).toHaveLength(1 + ROUNDS)
  const [warm = 0] = heaps
  const kept = (Math.min(...heaps.slice(-3)) - warm) / (RUNS * (ROUNDS - 2))
  expect(kept).toBeLessThan(MOST_BYTES)
})
