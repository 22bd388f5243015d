/** Contexts that are made for every attempt leave nothing behind, also while async hooks watch them. */
import { createHook } from "node:async_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, it, vi } from "vitest"
import { createSystemHost } from "./system.ts"

it("tells those who watch async resources of the end of each context that it has made", async () => {
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  const living = new Set<number>()
  const hook = createHook({
    init: (id, type) => void (type === "carillon" && living.add(id)),
    destroy: (id) => void living.delete(id),
  }).enable()
  const host = createSystemHost()
  const use = () => {
    for (let made = 0; made < 100; made += 1) host.newContext()(() => undefined)
  }
  use()
  expect(living.size).toBeGreaterThanOrEqual(100)
  const isForgotten = () => {
    collect()
    // All but those that hold what the host was made with.
    return living.size < 5
  }
  await vi.waitUntil(isForgotten, { timeout: 10_000 })
  hook.disable()
})
