/** Processes on PGlite on disk that are killed while they change files: at the first start, and under load. */
import { join } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import * as given from "../support/pglite/fixture.ts"
import { expectEachOnce, startDiskWorker } from "../support/pglite/fixture.ts"

vi.setConfig({ testTimeout: 240_000 })

afterEach(given.cleanUp)

// Kills at any moment: test/long/pglite-many-kills.test.ts.
describe("a process on PGlite that is killed with SIGKILL", () => {
  it("leaves its runs to the next one at once, long before its lease would have ended", async () => {
    const dataDir = join(await given.newFolder(), "data")
    const victim = startDiskWorker({ dataDir, slowMs: 3_600_000 })
    await victim.call("start")
    const run = await victim.call<string>("enqueue", { input: 1 })
    await victim.until("attempt.started")
    victim.kill("SIGKILL")
    await victim.ended
    const heir = startDiskWorker({ dataDir })
    await heir.call("start")
    expect(await heir.until("lease.reaped")).toMatchObject({ runs: 1 })
    await expectEachOnce(heir, dataDir, [run])
  })
})
