/** Schedules declared in code: `defineSchedule`, the checks, and the definitions that are stored. */
import { CarillonError, CronError, type Fault, InputError, OptionsError, PayloadError } from "../../errors.ts"
import type { AnyJob } from "../../job/define.ts"
import { expected } from "../../options/check.ts"
import { keyOf } from "../../schedule/reconcile.ts"
import { once } from "../once.ts"
import {
  type Definition,
  readDefinition,
  type ScheduleOptions,
  type ScheduleSettingsOptions,
} from "./options.ts"

/** Marks a declared schedule. `Symbol.for` lets two copies of this package accept each other's schedules. */
const SCHEDULE: unique symbol = Symbol.for("carillon.schedule")

/** A schedule for `createCarillon({ schedules })`, made by `defineSchedule`. */
export interface DeclaredSchedule extends ScheduleSettingsOptions {
  readonly [SCHEDULE]: true
  /** The job of its runs. */
  readonly job: AnyJob
}

/**
 * Declares a schedule, with an input that fits its job. It checks nothing: `createCarillon` reports all faults
 * together.
 *
 * @example
 * const nightly = defineSchedule({ name: "nightly", job: buildReport, input: { kind: "full" }, cron: "0 2 * * *" })
 * const carillon = createCarillon({ jobs: [buildReport], schedules: [nightly] })
 */
export function defineSchedule<Input>(options: ScheduleOptions<Input>): DeclaredSchedule {
  const declared: ScheduleSettingsOptions & { readonly job: AnyJob } = options
  return Object.freeze({ ...declared, [SCHEDULE]: true as const })
}

export interface ReadSchedules {
  readonly faults: readonly Fault[]
  /** Reads the definitions to store. Rejects with all faults that the schemas of the jobs find in the inputs. */
  readonly definitions: () => Promise<readonly Definition[]>
}

/** Reads the option `schedules` of `createCarillon`. */
export function readSchedules(schedules: unknown): ReadSchedules {
  const read: { readonly path: string; readonly job: AnyJob; readonly definition: Definition }[] = []
  const faults: Fault[] = []
  if (schedules !== undefined && !Array.isArray(schedules))
    faults.push(expected("an array", schedules, "schedules"))
  for (const [index, schedule] of (Array.isArray(schedules) ? schedules : []).entries()) {
    const path = `schedules[${index}]`
    if (!isSchedule(schedule)) {
      faults.push(expected("a schedule made by defineSchedule", schedule, path))
      continue
    }
    try {
      read.push({ path, job: schedule.job, definition: readDefinition(schedule) })
    } catch (error) {
      faults.push(...faultsOf(error, path, "cron" in schedule))
    }
  }
  return {
    faults: [...faults, ...findDuplicates(read)],
    definitions: once(async () => {
      const inputFaults: Fault[] = []
      for (const { path, job, definition } of read) {
        if (!job.hasSchema) continue
        await Promise.resolve(job.parse(definition.input)).catch((error: unknown) => {
          inputFaults.push(...faultsOf(error, path))
        })
      }
      if (inputFaults.length > 0) throw new OptionsError("createCarillon", inputFaults)
      return read.map(({ definition }) => definition)
    }),
  }
}

function isSchedule(value: unknown): value is DeclaredSchedule {
  return typeof value === "object" && value !== null && Object.hasOwn(value, SCHEDULE)
}

/** Finds two schedules with one name and tenant. */
function findDuplicates(
  read: readonly { readonly path: string; readonly definition: Definition }[],
): Fault[] {
  const first = new Map<string, string>()
  return read.flatMap(({ path, definition }) => {
    const key = keyOf(definition)
    const other = first.get(key)
    if (other === undefined) first.set(key, path)
    const message = `${JSON.stringify(definition.name)} is also the name of ${other}`
    return other === undefined ? [] : [{ path: `${path}.name`, message }]
  })
}

/** The faults of one schedule in the list, with their paths. */
function faultsOf(error: unknown, path: string, hasCron = false): Fault[] {
  const at = (steps: string) =>
    steps === "" || steps.startsWith("(") ? path : `${path}${steps.startsWith("[") ? "" : "."}${steps}`
  if (error instanceof OptionsError) return error.faults.map((fault) => ({ ...fault, path: at(fault.path) }))
  if (error instanceof InputError) {
    return error.issues.map(({ path: steps, message }) => ({
      path: steps.startsWith("(") ? at("input") : at(`input.${steps}`),
      message,
    }))
  }
  if (error instanceof PayloadError) {
    return [{ path: at(error.path === "" ? "input" : `input.${error.path}`), message: error.message }]
  }
  // `exclude` also holds cron expressions.
  if (error instanceof CronError) return [{ path: hasCron ? at("cron") : path, message: error.message }]
  if (error instanceof CarillonError) {
    return [{ path: error.code === "TIME_ZONE_UNKNOWN" ? at("timeZone") : path, message: error.message }]
  }
  throw error
}
