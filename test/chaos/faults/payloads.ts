/** Values at and beyond the limits: refused at the call, cut with a mark, and never in the way of other runs. */
import { fileURLToPath } from "node:url"
import type { Fault } from "../fault.ts"
import type { World } from "../world.ts"

const EXTRA = { extra: fileURLToPath(new URL("payloads.mjs", import.meta.url)) }

interface Answer {
  readonly many: number
  readonly wrong: readonly { readonly kind: string; readonly wanted: string; readonly found: string }[]
}

const OFFERS = {
  offerInputs: "inputs",
  offerResults: "results",
  offerSettings: "settings",
  offerSchedules: "inputs of schedules",
  throwAndLog: "errors and logs",
} as const

const huge: Fault = {
  id: "F54",
  title: "inputs, results, errors and logs that are too large, or no text at all",
  stage: { worker: EXTRA, producer: EXTRA },
  strikes: Object.values(OFFERS),
  inject: async (world, chance, signal) => {
    for (let round = 0; round === 0 || !signal.aborted; round += 1) {
      for (const [call, what] of Object.entries(OFFERS)) {
        if (round > 0 && signal.aborted) break
        const { many, wrong } = await chance.pick(world.producers()).call<Answer>(call)
        world.struck(what, many)
        for (const { kind, wanted, found } of wrong)
          world.complain(`Of ${what}, ${kind} was to be ${wanted}, and is ${found}.`)
      }
      await world.rest(chance.between(100, 500), signal)
    }
  },
  expect: async (world) => [...(await complaintsAboutEnds(world)), ...(await complaintsAboutCuts(world))],
}

const ENDS = { echo: "succeeded", maker: undefined, thrower: "dead", chatty: "succeeded" } as const

async function complaintsAboutEnds({ talk, schema }: World): Promise<string[]> {
  const rows = await talk.ask(
    `select job, outcome, run_state, count(*)::int as many from "${schema}".attempts
     where job = any($1) group by 1, 2, 3`,
    [Object.keys(ENDS)],
  )
  return rows.flatMap(({ job, outcome, run_state: state, many }) => {
    const wanted = ENDS[job as keyof typeof ENDS]
    const isFine =
      // What waited for too long behind the others goes back.
      ["succeeded", "failed", "released"].includes(String(outcome)) &&
      (state === null || wanted === undefined || state === wanted)
    return isFine ? [] : [`${many} attempts of ${job} are ${outcome}, their runs ${state}.`]
  })
}

/** The bounds of what is kept of an error and of a log, with their marks; what is cut must say so. */
const BOUNDS = { message: 8_192, stack: 32_768, code: 200, logs: 262_144 }
const MARK = 64

async function complaintsAboutCuts({ talk, schema }: World): Promise<string[]> {
  const [row] = await talk.ask(
    `select max(length(error_message)) filter (where job = 'thrower') as message,
       max(length(error_stack)) filter (where job = 'thrower') as stack,
       max(length(error_code)) filter (where job = 'thrower') as code,
       max(octet_length(logs::text)) as logs,
       count(*) filter (where job = 'thrower' and length(error_message) > ${BOUNDS.message}
         and error_message not like '%more characters)')::int as unmarked,
       count(*) filter (where job = 'thrower' and length(error_message) > ${BOUNDS.message})::int as cut,
       count(*) filter (where job = 'chatty' and octet_length(logs::text) > ${BOUNDS.logs} / 2
         and logs::text not like '%{"dropped":%}]')::int as silent,
       count(*) filter (where job = 'chatty' and logs::text like '%{"dropped":%}]')::int as dropped
     from "${schema}".attempts`,
  )
  const over = Object.entries(BOUNDS).flatMap(([what, most]) =>
    Number(row?.[what]) > most + MARK
      ? [`A ${what} of ${row?.[what]} was kept whole; ${most} is the bound.`]
      : [],
  )
  return [
    ...over,
    ...(row?.["unmarked"] === 0 ? [] : [`${row?.["unmarked"]} messages were cut without a mark.`]),
    ...(row?.["silent"] === 0 ? [] : [`${row?.["silent"]} logs were cut without a mark.`]),
    ...(Number(row?.["cut"]) > 0 && Number(row?.["dropped"]) > 0 ? [] : ["Nothing had to be cut."]),
  ]
}

export const payloads: readonly Fault[] = [huge]
