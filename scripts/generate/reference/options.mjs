// Writes docs/reference/options.md from the documentation of each option.
import { anchor, code, page } from "./markdown.mjs"
import { declaration, docBefore, fields, parse } from "./syntax.mjs"

export const OPTIONS_PAGE = "options.md"

/**
 * The interfaces with options, in the order of the page. `prefix` begins the path of each option. `governs` maps
 * options to defaults.
 */
const GROUPS = [
  {
    name: "CarillonOptions",
    file: "src/api/options.ts",
    title: "createCarillon(options)",
    prefix: "",
    governs: {
      schema: "schema",
      dataDir: "dataDir",
      removedSchedules: "removedSchedules",
      pools: "slots",
      lease: "leaseMs",
      overrunGrace: "overrunGraceMs",
      onStuck: "onStuck",
    },
  },
  {
    name: "ConnectionOptions",
    file: "src/api/options.ts",
    title: "createCarillon({ connections })",
    prefix: "connections.",
    governs: {},
  },
  {
    name: "DeadLetterAlarm",
    file: "src/api/options.ts",
    title: "createCarillon({ deadLetterAlarm })",
    prefix: "deadLetterAlarm.",
    governs: { atLeast: "growthAtLeast", within: "growthWithinMs" },
  },
  {
    name: "JobSettings",
    file: "src/job/options.ts",
    title: "defineJob(settings)",
    intro:
      "A job also has `run`, its handler, and usually `input`, a [Standard Schema](https://standardschema.dev) for " +
      "its inputs.",
    prefix: "job.",
    governs: {
      pool: "pool",
      priority: "priority",
      timeout: "timeoutMs",
      onLost: "onLost",
      settle: "settle",
      history: "history",
      concurrency: "concurrency",
      overrun: "overrun",
    },
  },
  {
    name: "RetryOptions",
    file: "src/job/options.ts",
    title: "defineJob({ retry })",
    intro: "A job also takes the retry options of a run, below.",
    prefix: "job.retry.",
    governs: {},
  },
  {
    name: "RunRetryOptions",
    file: "src/job/options.ts",
    title: "enqueue(job, input, { retry })",
    prefix: "enqueue.retry.",
    governs: {
      attempts: "attempts",
      base: "backoffBaseMs",
      factor: "backoffFactor",
      cap: "backoffCapMs",
    },
  },
  {
    name: "RunOptions",
    file: "src/api/runs/enqueue-options.ts",
    title: "enqueue(job, input, options)",
    intro:
      "Also `tx`: a node-postgres client with an open transaction, or the `tx` of `ctx.transaction`. The run exists " +
      "if and only if that transaction commits.",
    prefix: "enqueue.",
    governs: {},
  },
  {
    name: "CallOptions",
    file: "src/api/call-options.ts",
    title: "every call",
    intro: "Every call that asks the database takes these beside its own options, also one that has none.",
    prefix: "call.",
    governs: { deadline: "deadlineMs" },
  },
  {
    name: "ScheduleSettingsOptions",
    file: "src/api/schedules/options.ts",
    title: "defineSchedule(schedule), schedules.put(schedule)",
    intro:
      "A schedule also has its `job`, the `input` of its runs if the job takes one, and one kind of time: `cron`, " +
      "`every`, `at` or `afterCompletion`, below.",
    prefix: "schedule.",
    governs: {
      misfire: "misfire",
      overlap: "overlap",
      maxQueued: "maxQueued",
      replaceGrace: "replaceGraceMs",
    },
  },
  {
    name: "MisfireLimits",
    file: "src/job/schedule-policy.ts",
    title: "schedule.misfire with limits",
    prefix: "schedule.misfire.",
    governs: {},
  },
  {
    name: "Limits",
    file: "src/schedule/spec.ts",
    title: "schedule: limits, exclusions and delays",
    prefix: "schedule.",
    governs: {},
  },
  {
    name: "Zoned",
    file: "src/schedule/spec.ts",
    title: "schedule: time zone",
    intro: "For cron expressions, calendar intervals and local times.",
    prefix: "schedule.",
    governs: { timeZone: "timeZone" },
  },
  {
    name: "DstPolicy",
    file: "src/time/zoned.ts",
    title: "schedule.dst",
    prefix: "schedule.dst.",
    governs: {},
  },
  {
    name: "CronSpec",
    file: "src/schedule/spec.ts",
    title: "a schedule by a cron expression",
    prefix: "schedule.cron.",
    governs: { dialect: "dialect" },
  },
  {
    name: "IntervalSpec",
    file: "src/schedule/spec.ts",
    title: "a schedule at intervals",
    prefix: "schedule.interval.",
    governs: { timeZone: "timeZone" },
  },
  {
    name: "CivilInterval",
    file: "src/schedule/spec.ts",
    title: "a schedule by the calendar: every",
    prefix: "schedule.every.",
    governs: {},
  },
  {
    name: "OnceSpec",
    file: "src/schedule/spec.ts",
    title: "a schedule that happens once",
    prefix: "schedule.once.",
    governs: {},
  },
  {
    name: "AfterCompletionSpec",
    file: "src/schedule/spec.ts",
    title: "a schedule after the last run",
    prefix: "schedule.afterCompletion.",
    governs: {},
  },
  {
    name: "BackfillOptions",
    file: "src/api/schedules/backfill-options.ts",
    title: "schedules.backfill(name, options)",
    prefix: "backfill.",
    governs: {},
  },
  {
    name: "StopOptions",
    file: "src/api/options.ts",
    title: "stop(options)",
    prefix: "stop.",
    governs: { grace: "graceMs" },
  },
  {
    name: "CarillonConfig",
    file: "src/api/config.ts",
    title: "defineConfig(config)",
    intro: "The file of configuration also takes the options of `createCarillon`, except `roles`.",
    prefix: "config.",
    governs: { grace: "graceMs" },
  },
  {
    name: "HttpConfig",
    file: "src/api/config.ts",
    title: "defineConfig({ http })",
    prefix: "config.http.",
    governs: { host: "httpHost", port: "httpPort" },
  },
  {
    name: "TestKitOptions",
    file: "src/testing/test-kit.ts",
    title: "createTestKit(options)",
    prefix: "testing.",
    governs: {},
  },
]

export async function renderOptions({ read }) {
  const groups = await readOptions(read)
  const duration = docOf(await read("src/time/duration.ts"), "Duration")
  return page(
    "# Options",
    "Every call checks its options first and reports all faults at once, with their paths, as an " +
      `[${code("OptionsError")}](errors.md#${anchor("OptionsError")}). [Defaults](defaults.md) lists all defaults.`,
    groups.map(({ title }) => `- [${code(title)}](#${anchor(title)})`).join("\n"),
    `**${code("Duration")}**: ${duration.text.charAt(0).toLowerCase()}${duration.text.slice(1)}`,
    groups.flatMap((group) =>
      [
        `## ${code(group.title)}`,
        group.doc.text,
        group.intro,
        group.options.flatMap((option) => [
          `### ${code(option.path)}`,
          factsOf(option, groups),
          option.doc.text,
        ]),
      ].flat(),
    ),
  )
}

/** Every group with its options, read from the source. */
export async function readOptions(read) {
  return Promise.all(
    GROUPS.map(async (group) => {
      const text = await read(group.file)
      const found = fields(text, declaration(parse(text), group.name).body.body)
      return {
        ...group,
        doc: docOf(text, group.name),
        options: found.map((option) => ({
          ...option,
          path: group.prefix + option.name,
          governs: group.governs[option.name],
        })),
      }
    }),
  )
}

function docOf(text, name) {
  return docBefore(text, declaration(parse(text), name).start)
}

function factsOf({ type, optional, doc }, groups) {
  const group = groups.find(({ name }) => name === type)
  const shown = group ? `[${code(type)}](#${anchor(group.title)})` : code(type)
  if (!optional) return `${shown}, required`
  return doc.default ? `${shown}, default ${literalAsCode(doc.default)}` : `${shown}, optional`
}

function literalAsCode(text) {
  return /^("[^"]*"|[\d.]+)$/.test(text) ? code(text) : text
}
