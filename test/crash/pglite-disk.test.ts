/** Processes on PGlite on disk that are killed while they change files: at the first start, and under load. */
import { join } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import * as given from "../support/pglite/fixture.ts"
import { expectEachOnce, startDiskWorker } from "../support/pglite/fixture.ts"
import { killFirstStarts, killUnderLoad } from "../support/pglite/kills.ts"

vi.setConfig({ testTimeout: 240_000 })

afterEach(given.cleanUp)

// A few of each; test/long/pglite-kills.test.ts has more.
describe("a process on PGlite that is killed with SIGKILL", () => {
  it("at a call of its first start leaves a folder that the next one can use", () => killFirstStarts(1))

  it("at a call under load loses nothing that it has acknowledged, and nothing is done twice without a cause", () =>
    killUnderLoad(4))

  it("hands its runs to the next one at once, long before its lease would have ended", async () => {
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
