/** The calls about dead letters: how they are checked, and what they answer. */
import { DEFAULTS } from "../../defaults.ts"
import { CarillonError } from "../../errors.ts"
import { readFilter } from "../../filter/object.ts"
import { printFilter } from "../../filter/print.ts"
import type { RunFilter } from "../../filter/run-filter.ts"
import { encodePayload } from "../../job/payload.ts"
import { discard } from "../../operations/dead-letters/discard.ts"
import { type Discarded, discardMany } from "../../operations/dead-letters/discard-many.ts"
import { editAndReplay } from "../../operations/dead-letters/edit-and-replay.ts"
import type { DeadLetterGroup } from "../../operations/dead-letters/error-group.ts"
import { get } from "../../operations/dead-letters/get.ts"
import { group } from "../../operations/dead-letters/group.ts"
import { groups } from "../../operations/dead-letters/groups.ts"
import { ignore } from "../../operations/dead-letters/ignore.ts"
import { list } from "../../operations/dead-letters/list.ts"
import { notDead } from "../../operations/dead-letters/not-dead.ts"
import { reopen } from "../../operations/dead-letters/reopen.ts"
import { replay } from "../../operations/dead-letters/replay.ts"
import { type Replayed, replayMany } from "../../operations/dead-letters/replay-many.ts"
import { resolve } from "../../operations/dead-letters/resolve.ts"
import { perform } from "../../operations/perform.ts"
import type { Run } from "../../operations/runs/run.ts"
import { unknownRun } from "../../operations/runs/unknown-run.ts"
import { assertOptions } from "../../options/check.ts"
import type { FinalState } from "../../queue/run-state.ts"
import { parseInstant } from "../../time/instant.ts"
import { parseRate } from "../../time/rate.ts"
import { type ByWhom, byOf, byWhomCheck } from "../actor.ts"
import type { Opened } from "../application.ts"
import { runIdOf } from "../options.ts"
import type {
  DeadLetterCountOptions,
  DeadLetterGroupName,
  DeadLetterGroupPage,
  DeadLetterGroupsOptions,
  DeadLetterListOptions,
  DeadLetterPage,
  DiscardOptions,
  ReplayOptions,
  ResolveOptions,
} from "./calls.ts"
import { type PlaceCheck, readCursor, writeCursor } from "./cursors.ts"
import { assertGroup, CHECKS, filterOf, MOST_AT_ONCE } from "./options.ts"

const LIMIT = 50
const COUNTED = 10_000
/** How many letters a page looks at. */
const SEARCHED = 100_000

export const deadLetterCalls = {
  get: async ({ runtime }: Opened, runId: string): Promise<Run | undefined> =>
    get(runtime, { id: runIdOf(runId) }),

  list: async ({ runtime }: Opened, options: DeadLetterListOptions = {}): Promise<DeadLetterPage> => {
    const call = "deadLetters.list"
    assertOptions(call, options, CHECKS.list)
    const filter = readFilter(options.filter)
    const asked = [printFilter(filter)]
    const [at, run, nowMs] = readCursor(call, options.cursor, { asked, isPlace: isLetterPlace }) ?? []
    const { items, next, searched, ...listed } = await list(runtime, {
      ...{ filter, limit: options.limit ?? LIMIT, budget: SEARCHED },
      below: at === undefined || run === undefined ? undefined : { at, run },
      nowMs: nowMs === undefined ? undefined : Number(nowMs),
    })
    return {
      items,
      ...(next && { nextCursor: writeCursor([next.at, next.run, String(listed.nowMs)], asked) }),
      ...(searched !== undefined && { searched }),
    }
  },

  groups: async (
    { runtime }: Opened,
    options: DeadLetterGroupsOptions = {},
  ): Promise<DeadLetterGroupPage> => {
    const call = "deadLetters.groups"
    assertOptions(call, options, CHECKS.groups)
    const { job, upTo: most = COUNTED, limit = LIMIT } = options
    const asked = [job ?? null]
    const [after, fingerprint] = readCursor(call, options.cursor, { asked, isPlace: isGroupPlace }) ?? []
    const { items, next } = await groups(runtime, {
      ...{ job, most, limit },
      after: after === undefined || fingerprint === undefined ? undefined : { job: after, fingerprint },
    })
    return { items, ...(next && { nextCursor: writeCursor([next.job, next.fingerprint], asked) }) }
  },

  group: async (
    { runtime }: Opened,
    of: DeadLetterGroupName,
    options: DeadLetterCountOptions = {},
  ): Promise<DeadLetterGroup | undefined> => {
    assertGroup("deadLetters.group", of)
    assertOptions("deadLetters.group", options, CHECKS.group)
    return group(runtime, { ...of, most: options.upTo ?? COUNTED })
  },

  replay: async (
    opened: Opened,
    which: string | RunFilter,
    options: ReplayOptions = {},
  ): Promise<Replayed | undefined> => {
    const call = "deadLetters.replay"
    const { runtime, engine } = opened
    if (!isFilter(which)) {
      const id = runIdOf(which)
      assertOptions(call, options, byWhomCheck)
      await perform(engine.tell, replay(runtime, { id, by: byOf(opened, options) }))
      return undefined
    }
    const filter = filterOf(call, which)
    assertOptions(call, options, CHECKS.replay)
    const { limit = MOST_AT_ONCE, canary: isCanaryFirst = false } = options
    return replayMany(
      {
        ...{ runtime, tell: engine.tell, rest: restOf(opened) },
        endOf: (run) => endOf(opened, run),
      },
      { filter, limit, isCanaryFirst, perSecond: parseRate(options.rate), by: byOf(opened, options) },
    )
  },

  editAndReplay: async (opened: Opened, runId: string, value: unknown, by: ByWhom = {}): Promise<void> => {
    const id = runIdOf(runId)
    assertOptions("deadLetters.editAndReplay", by, byWhomCheck)
    const input = encodePayload(value, "input", DEFAULTS.inputBytes)
    const { runtime, engine } = opened
    const letter = await get(runtime, { id })
    if (!letter) throw notDead(id)
    await engine.jobs.get(letter.job)?.parse(input)
    return perform(engine.tell, editAndReplay(runtime, { id, input, by: byOf(opened, by) }))
  },

  discard: async (
    opened: Opened,
    which: string | RunFilter,
    options: DiscardOptions = {},
  ): Promise<Discarded | undefined> => {
    const call = "deadLetters.discard"
    const { runtime, engine } = opened
    if (!isFilter(which)) {
      const id = runIdOf(which)
      assertOptions(call, options, byWhomCheck)
      await perform(engine.tell, discard(runtime, { id, by: byOf(opened, options) }))
      return undefined
    }
    const filter = filterOf(call, which)
    assertOptions(call, options, CHECKS.discard)
    const { limit = MOST_AT_ONCE } = options
    return discardMany(
      { runtime, tell: engine.tell, rest: restOf(opened) },
      { filter, limit, by: byOf(opened, options) },
    )
  },

  resolve: async (
    opened: Opened,
    of: DeadLetterGroupName,
    options: ResolveOptions = {},
  ): Promise<boolean> => {
    assertGroup("deadLetters.resolve", of)
    assertOptions("deadLetters.resolve", options, CHECKS.resolve)
    const { version = null } = options
    const request = { ...of, version, by: byOf(opened, options) }
    return perform(opened.engine.tell, resolve(opened.runtime, request))
  },

  ignore: async (opened: Opened, of: DeadLetterGroupName, by: ByWhom = {}): Promise<boolean> => {
    assertGroup("deadLetters.ignore", of)
    assertOptions("deadLetters.ignore", by, byWhomCheck)
    return perform(opened.engine.tell, ignore(opened.runtime, { ...of, by: byOf(opened, by) }))
  },

  reopen: async (opened: Opened, of: DeadLetterGroupName, by: ByWhom = {}): Promise<boolean> => {
    assertGroup("deadLetters.reopen", of)
    assertOptions("deadLetters.reopen", by, byWhomCheck)
    return perform(opened.engine.tell, reopen(opened.runtime, { ...of, by: byOf(opened, by) }))
  },
}

function isFilter(which: string | RunFilter): which is RunFilter | string {
  return typeof which === "string" ? /[:<>=]/.test(which) : typeof which === "object" && which !== null
}

const isLetterPlace: PlaceCheck = ([at = "", run = "", nowMs = "", ...rest]) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(at) &&
  parseInstant(at) !== undefined &&
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(run) &&
  /^\d{1,15}$/.test(nowMs) &&
  rest.length === 0

const isGroupPlace: PlaceCheck = (place) => place.length === 2 && place.every((part) => !part.includes("\0"))

/** A rest between batches. A stop ends the call. */
function restOf({ runtime, stopping }: Opened): (ms: number) => Promise<void> {
  return async (ms) => {
    if (ms > 0 && !stopping.aborted) await runtime.sleep(ms, stopping)
    if (!stopping.aborted) return
    throw new CarillonError(
      "CLOSED",
      "Carillon was stopped before the call ended. Make it again: it goes on.",
    )
  }
}

async function endOf({ engine }: Opened, run: string): Promise<FinalState> {
  const finished = await engine.results.wait(run)
  if (finished) return finished.state as FinalState
  throw unknownRun(run)
}
