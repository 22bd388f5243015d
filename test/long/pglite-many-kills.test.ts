/** Many kills of processes on PGlite on disk, at any call that changes a file. */
import { afterEach, describe, it, vi } from "vitest"
import * as given from "../support/pglite/fixture.ts"
import { killFirstStarts, killUnderLoad } from "../support/pglite/kills.ts"

vi.setConfig({ testTimeout: 600_000 })

afterEach(given.cleanUp)

describe("PGlite on disk", () => {
  it("can be used again after a kill at any call of the first start", () => killFirstStarts(12))

  it("keeps everything that was acknowledged over many kills under load", () => killUnderLoad(25))
})
