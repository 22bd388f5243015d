import { expect, it } from "vitest"
import { defineJob } from "../../job/define.ts"
import { createSystemHost } from "../../runtime/system.ts"
import { createEnqueueTogether } from "./enqueue-together.ts"
import type { EnqueueOutcome, NewRun } from "./new-run.ts"

it("those go together that have about as much time left, however long they have waited", async () => {
  const host = createSystemHost()
  const job = defineJob({ name: "plain", run: async () => {} })
  let nowMs = 0
  const sent: { readonly ids: readonly string[]; readonly deadlineAtMs: number }[] = []
  const answers: (() => void)[] = []
  const write = (_: unknown, runs: readonly NewRun[], deadlineAtMs: number): Promise<EnqueueOutcome> => {
    sent.push({ ids: runs.map(({ id }) => id), deadlineAtMs })
    const answer = { answers: runs.map(({ id }) => ({ id })), lanes: [] } as unknown as EnqueueOutcome
    return new Promise((resolve) => answers.push(() => resolve(answer)))
  }
  const together = createEnqueueTogether(write, {
    ...host,
    monotonicMs: () => nowMs,
    soon: (then) => queueMicrotask(then),
  })
  const calls: Promise<EnqueueOutcome>[] = []
  const call = async (id: string, atMs: number) => {
    nowMs = atMs
    calls.push(together.write(job, [{ id, input: "null" } as NewRun]))
    await Promise.resolve()
  }
  // The database does not answer, and the others wait until it does.
  for (const [id, atMs] of Object.entries({
    one: 0,
    two: 0,
    old: 10,
    older: 900,
    young: 20_000,
    younger: 20_500,
  }))
    await call(id, atMs)
  expect(sent.map(({ ids }) => ids)).toEqual([["one"], ["two"]])
  while (answers.length > 0) {
    for (const answer of answers.splice(0)) answer()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(calls)
  expect(sent.slice(2)).toEqual([
    { ids: ["old", "older"], deadlineAtMs: 30_010 },
    { ids: ["young", "younger"], deadlineAtMs: 50_000 },
  ])
})
