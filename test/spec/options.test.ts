import { afterAll, describe, expect, it } from "vitest"
import {
  type CarillonOptions,
  createCarillon,
  defineJob,
  type EventListener,
  OptionsError,
} from "../../src/index.ts"
import { createTestKit } from "../../src/testing/index.ts"

const good = defineJob({ name: "good", run: async () => {} })

describe("wrong options", () => {
  it("of a job fail when it is defined, all of them at once", () => {
    const error = catchOptionsError(() =>
      defineJob({
        name: "no spaces, please",
        pool: "",
        priority: 1.5,
        retry: { attempts: 0, base: "soon", fctor: 2 },
        timeout: 0,
        input: "not a schema",
        handler: async () => {},
      } as unknown as Parameters<typeof defineJob>[0]),
    )
    expect(error.faults.map(({ path }) => path)).toEqual([
      "handler",
      "name",
      "input",
      "pool",
      "priority",
      "retry.fctor",
      "retry.attempts",
      "retry.base",
      "timeout",
      "run",
    ])
    expect(error.faults.find(({ path }) => path === "retry.fctor")?.message).toContain(
      'did you mean "factor"?',
    )
  })

  it("of Carillon fail when it is created, before any connection is made", () => {
    const error = catchOptionsError(() =>
      createCarillon({
        databse: "postgres://x",
        database: "mysql://x",
        schema: "pg_mine",
        jobs: [good, {}, good],
        pools: { mail: 0, defualt: 1 },
        lease: "1ms",
        logger: { info: () => {} },
      } as unknown as CarillonOptions),
    )
    expect(error.faults).toMatchObject([
      { path: "databse", message: 'unknown option; did you mean "database"?' },
      { path: "database" },
      { path: "schema" },
      { path: "jobs[1]", message: expect.stringContaining("defineJob") },
      { path: "pools.mail" },
      { path: "lease" },
      { path: "logger" },
      { path: "jobs[2].name", message: '"good" is also the name of jobs[0]' },
      { path: "pools.defualt", message: expect.stringContaining('did you mean "default"?') },
    ])
  })

  it.each(["http://me:s3cret@host/db", "host=db user=me password=s3cret", "postgres://me:s3cret#1@host/db"])(
    "never repeat a password (%#)",
    (database) => {
      expect(catchOptionsError(() => createCarillon({ database })).message).not.toContain("s3cret")
    },
  )

  it.each(["postgres://db:99999/x", "postgres://me:a#b@db/x", "mysql://x", ""])(
    "refuse the address %j at once",
    (database) => {
      expect(catchOptionsError(() => createCarillon({ database })).faults).toHaveLength(1)
    },
  )

  it.each(["postgres://", "postgres:///x?host=/tmp", "postgresql://me@[::1]:5432/x", "memory"])(
    "do not include the address %j",
    (database) => {
      createCarillon({ database })
    },
  )

  it("answer a misspelt pool with a suggestion", () => {
    const mail = defineJob({ name: "mail", pool: "mail", run: async () => {} })
    const error = catchOptionsError(() => createCarillon({ jobs: [mail], pools: { mial: 3 } }))
    expect(error.faults).toEqual([
      { path: "pools.mial", message: 'no job runs in this pool; did you mean "mail"?' },
    ])
  })

  it("include a cap that is shorter than the base", () => {
    const retry = { base: "1m", cap: "1s" } as const
    expect(catchOptionsError(() => defineJob({ name: "x", retry, run: async () => {} })).faults).toHaveLength(
      1,
    )
  })
})

describe("wrong options of a call", async () => {
  const kit = await createTestKit()
  afterAll(() => kit.close())

  it("fail the call and write nothing", async () => {
    await using app = await kit.app({ jobs: [good] })
    const enqueue = (options: object) => app.enqueue(good, undefined, options)
    await expect(enqueue({ dealy: "5m" })).rejects.toMatchObject({
      faults: [{ path: "dealy", message: 'unknown option; did you mean "delay"?' }],
    })
    await expect(enqueue({ delay: "5m", runAt: new Date() })).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
    })
    await expect(enqueue({ runAt: new Date(Number.NaN) })).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    await expect(enqueue({ delay: "-1s" })).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    await expect(enqueue({ runAt: new Date(Date.UTC(12_000, 0)) })).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
    })
    await expect(app.enqueue(undefined as unknown as typeof good)).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
    })
    await expect(app.runs.wait("not an id")).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    await expect(app.stop({ grace: "a while" as "1s" })).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    await app.drain()
    expect(app.events.filter(({ type }) => type === "run.enqueued")).toEqual([])
  })

  it("fail a wait for a result and a subscription, which take nothing else", async () => {
    await using app = await kit.app({ jobs: [good] })
    const run = await app.enqueue(good, undefined, { delay: "1h" })
    for (const wait of [
      (options: object) => run.result(options),
      (options: object) => app.runs.wait(run.id, options),
    ]) {
      await expect(wait({ sginal: undefined })).rejects.toMatchObject({
        faults: [{ path: "sginal", message: 'unknown option; did you mean "signal"?' }],
      })
      await expect(wait({ signal: 5 })).rejects.toMatchObject({ faults: [{ path: "signal" }] })
    }
    const error = catchOptionsError(() => app.subscribe(undefined as unknown as EventListener))
    expect(error.faults).toMatchObject([{ path: "listener", message: "expected a function, got nothing" }])
  })

  it("are not mistaken for a stop: after one, calls are refused by name", async () => {
    await using app = await kit.app({ jobs: [good] })
    await app.stop()
    await expect(app.enqueue(good)).rejects.toMatchObject({ code: "CLOSED" })
    await app.stop()
  })
})

function catchOptionsError(run: () => unknown): OptionsError {
  try {
    run()
  } catch (error) {
    if (error instanceof OptionsError) return error
    throw error
  }
  throw new Error("nothing was refused")
}
