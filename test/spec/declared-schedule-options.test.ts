/** What may be wrong with declared schedules: every fault is reported, with its place in the list. */
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createCarillon, defineJob, defineSchedule, OptionsError } from "../../src/index.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import { createTestKit } from "../../src/testing/index.ts"
import { linesOf } from "../support/log-lines.ts"

const sweep = defineJob({ name: "sweep", run: () => {} })
const mail = defineJob({ name: "mail", input: z.object({ to: z.string() }), run: () => {} })

function faultsOf(work: () => unknown): Record<string, string> {
  try {
    work()
  } catch (error) {
    if (error instanceof OptionsError) {
      return Object.fromEntries(error.faults.map(({ path, message }) => [path, message]))
    }
    throw error
  }
  return {}
}

/** As a caller in JavaScript passes it. */
const untyped = (options: object) => defineSchedule(options as never)

describe("createCarillon({ schedules })", () => {
  it("reports every fault of every schedule at once, with its place", () => {
    const faults = faultsOf(() =>
      createCarillon({
        schedules: [
          defineSchedule({ name: "fine", job: sweep, cron: "@daily" }),
          untyped({ name: "a", job: sweep, cron: "61 * * * *" }),
          untyped({ name: "b", job: sweep, cron: "0 0 30 2 *" }),
          untyped({ name: "c", job: sweep, every: "1h", overlp: "skip" }),
          untyped({ name: "d", job: {}, every: "1h" }),
          untyped({ name: "e", job: sweep, cron: "@daily", timeZone: "Europe/Olso" }),
          untyped({ name: "f", job: sweep, every: "1h", input: { deep: [1n] } }),
          untyped({ name: "fine", job: sweep, every: "1h" }),
          { name: "g", job: sweep, every: "1h" } as never,
          untyped({ name: "h", job: sweep }),
        ],
        removedSchedules: "forget" as never,
        application: "",
      }),
    )
    expect(faults).toEqual({
      removedSchedules: expect.stringContaining('"retire" or "delete"'),
      application: expect.stringContaining("1 to 100 characters"),
      "schedules[1].cron": expect.stringContaining('"61 * * * *", character 1'),
      "schedules[2]": expect.stringContaining("never"),
      "schedules[3].overlp": expect.stringContaining('did you mean "overlap"'),
      "schedules[4].job": expect.stringContaining("defineJob"),
      "schedules[5].timeZone": expect.stringContaining('Did you mean "Europe/Oslo"?'),
      "schedules[6].input.deep.0": expect.stringContaining("bigint"),
      "schedules[7].name": '"fine" is also the name of schedules[0]',
      "schedules[8]": expect.stringContaining("a schedule made by defineSchedule"),
      "schedules[9]": expect.stringContaining("exactly one of `cron`, `every`, `at`"),
    })
    expect(faultsOf(() => createCarillon({ schedules: {} as never }))).toEqual({
      schedules: expect.stringContaining("an array"),
    })
  })

  it("allows one name for two tenants", () => {
    const of = (tenant: string) => defineSchedule({ name: "report", job: sweep, every: "1h", tenant })
    expect(faultsOf(() => createCarillon({ schedules: [of("a"), of("b")] }))).toEqual({})
  })

  it("checks the inputs against the schemas at start, and reports all faults before it connects", async () => {
    const carillon = createCarillon({
      database: "postgres://nobody@127.0.0.1:1/nowhere",
      jobs: [mail],
      schedules: [
        defineSchedule({ name: "fine", job: mail, every: "1h", input: { to: "ada" } }),
        untyped({ name: "a", job: mail, every: "1h", input: { to: 1 } }),
        untyped({ name: "b", job: mail, every: "1h" }),
      ],
    })
    await expect(carillon.start()).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      faults: [{ path: "schedules[1].input.to" }, { path: "schedules[2].input" }],
    })
    await carillon.stop()
  })
})

describe("a process with declared schedules", () => {
  it("creates them when it starts by itself, and not again after a restart", async () => {
    await using kit = await createTestKit()
    const schedules = [defineSchedule({ name: "nightly", job: sweep, cron: "@daily" })]
    await using app = await kit.app({ jobs: [sweep], schedules })
    await app.start()
    await app.until("schedule.declared")
    await app.restart()
    await app.drain()
    expect(app.events.filter(({ type }) => type.startsWith("schedule."))).toHaveLength(1)
    expect(await app.schedules.get("nightly")).toMatchObject({ state: "active", declared: {} })
  })
})

describe("the log of schedules", () => {
  it("says about declared schedules what operators want to know", () => {
    const changes = [{ field: "spec.cron", before: "@daily", after: "@hourly" }]
    const nightly = { schedule: "1", name: "nightly" }
    const events: CarillonEvent[] = [
      { type: "schedule.declared", ...nightly },
      { type: "schedule.changed", ...nightly, changes },
      { type: "schedule.revived", ...nightly, changes: [] },
      { type: "schedule.revived", ...nightly, changes },
      { type: "schedule.removed", ...nightly, became: "retired" },
      { type: "schedule.taken", ...nightly, by: null },
      { type: "schedule.taken", ...nightly, by: "" },
      { type: "schedule.taken", ...nightly, by: "shop" },
      { type: "schedules.outdated", application: "", declared: "1.9", stored: "1.10" },
    ]
    const lines = linesOf(events)
    const taken = "schedule nightly is not as declared here: the one of that name was"
    const todo = "and stays. Delete it, or use another name"
    expect(lines).toEqual([
      "debug: schedule nightly declared",
      'info: schedule nightly changed: spec.cron from "@daily" to "@hourly"',
      "info: schedule nightly is declared again, and goes on",
      'info: schedule nightly is declared again, and goes on: spec.cron from "@daily" to "@hourly"',
      "info: schedule nightly is declared no more, and is retired",
      `warn: ${taken} made by a call, ${todo}`,
      `warn: ${taken} declared by an application without a name, ${todo}`,
      `warn: ${taken} declared by application shop, ${todo}`,
      "info: schedules stay as version 1.10 declares them; this process is of version 1.9",
    ])
  })
})
