// docs/reference/options.md: what users can set, told by the documentation beside each option.
import { anchor, code, page } from "./markdown.mjs"
import { declaration, docBefore, fields, parse } from "./syntax.mjs"

export const OPTIONS_PAGE = "options.md"

/**
 * The interfaces with options, in the order in which users meet them. `prefix` is how a path to one of its
 * options begins, `governs` says which default stands behind an option.
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
      "Beside these, a job has `run`, its handler, and usually `input`, a [Standard Schema](https://standardschema.dev) " +
      "that every input has to satisfy.",
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
    intro: "Beside these, everything that a run can say about its own retries, below.",
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
      "Beside these, `tx`: a node-postgres client on which a transaction is open, or what `ctx.transaction` gives. " +
      "The run then exists when, and only if, that transaction commits.",
    prefix: "enqueue.",
    governs: {},
  },
  {
    name: "ScheduleSettingsOptions",
    file: "src/api/schedules/options.ts",
    title: "defineSchedule(schedule), schedules.put(schedule)",
    intro:
      "Beside these, a schedule has its `job`, the `input` of its runs where the job takes one, and one of the ways to say " +
      "when, below.",
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
    title: "schedule.misfire with bounds",
    prefix: "schedule.misfire.",
    governs: {},
  },
  {
    name: "Limits",
    file: "src/schedule/spec.ts",
    title: "schedule: bounds and exceptions",
    prefix: "schedule.",
    governs: {},
  },
  {
    name: "Zoned",
    file: "src/schedule/spec.ts",
    title: "schedule: the clock on the wall",
    intro: "For cron expressions, intervals of the calendar and wall times.",
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
    "All options are checked when they are given, before anything else happens. Every fault is reported at once, " +
      `with its path, as an [${code("OptionsError")}](errors.md#${anchor("OptionsError")}). What applies when an ` +
      "option is left out is also listed in [Defaults](defaults.md).",
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

/** Every group with its options as the source tells them. */
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
