/** A test app whose runs die until the world is mended, for the specs of dead letters. */
import { type CarillonEvent, defineJob, type StandardSchema } from "../../src/index.ts"
import { rowsOf } from "./sql.ts"
import type { WatchedApp, WatchedKit } from "./watched-app.ts"

export const by = { actor: "ada", reason: "the disk is mended" }
export const START = "2026-03-01T09:00Z"

interface Order {
  readonly order: number
  readonly code?: string
}

/** What the handlers of one app do. */
interface World {
  /** Until then every run fails. */
  isMended: boolean
  readonly inputs: unknown[]
}

const orderSchema: StandardSchema<Order, Order> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof (value as Order)?.order === "number"
        ? { value: value as Order }
        : { issues: [{ message: "not an order", path: ["order"] }] },
  },
}

function jobsOf(world: World) {
  const work = (name: string) =>
    defineJob({
      name,
      input: orderSchema,
      retry: { attempts: 1 },
      run: async (input) => {
        world.inputs.push(input)
        if (world.isMended) return input.order
        throw Object.assign(new Error(`order ${input.order} refused`), { code: input.code ?? "E_DISK" })
      },
    })
  return { bill: work("bill"), mail: work("mail") }
}

export const told = <Type extends CarillonEvent["type"]>(app: WatchedApp, type: Type) =>
  app.events.filter((event): event is Extract<CarillonEvent, { type: Type }> => event.type === type)

export async function openMortal(kit: WatchedKit, options: { readonly version?: string } = {}) {
  const world: World = { isMended: false, inputs: [] }
  const { bill, mail } = jobsOf(world)
  const app = await kit.app({ jobs: [bill, mail], at: START, ...options })
  return { app, world, bill, mail, [Symbol.asyncDispose]: () => app.close() }
}

export type Mortal = Awaited<ReturnType<typeof openMortal>>

/** Runs of `bill` that have died, the oldest first, a second apart. */
export async function die({ app, bill }: Mortal, inputs: readonly Order[], options = {}): Promise<string[]> {
  const ids: string[] = []
  for (const input of inputs) {
    ids.push((await app.enqueue(bill, input, options)).id)
    await app.clock.advance("1s")
  }
  return ids
}

export const orders = (count: number) => Array.from({ length: count }, (_, order) => ({ order }))

/** How many attempts there are of each generation. */
export async function generationsOf(app: WatchedApp) {
  const rows = await rowsOf(
    app.database,
    "select generation, count(*)::int as n from {attempts} group by 1 order by 1",
  )
  return rows.map(({ generation, n }) => [generation, n])
}
