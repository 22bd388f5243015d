/** A listener or logger may fail in any way: the process and its runs go on. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import { newSchema } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"

const script = fileURLToPath(new URL("../support/process/hostile-listeners.mjs", import.meta.url))

describe("a logger and a listener", () => {
  it.each(["throws", "rejects", "rejects later"])(
    "may fail so that each call %s, and the process survives",
    async (how) => {
      const options = { how, database: SERVER_URLS.postgres18, schema: newSchema(createSystemHost()) }
      const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)])
      expect(stdout).toBe("survived")
    },
  )
})
