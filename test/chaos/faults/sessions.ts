/** Sessions of the database that are ended, and locks that are held. */
import type { Fault } from "../fault.ts"

const terminated: Fault = {
  id: "F13",
  title: "the server ends sessions at random, five a second",
  strikes: ["sessions ended"],
  inject: async (world, chance, signal) => {
    while (!signal.aborted) {
      const victims = await world.talk.ask(
        "select pid from pg_stat_activity where application_name = 'carillon' and backend_type = 'client backend'",
      )
      if (victims.length > 0) {
        const { pid } = chance.pick(victims)
        const [row] = await world.talk.ask("select pg_terminate_backend($1) as done", [pid])
        if (row?.["done"]) world.struck("sessions ended")
      }
      await world.rest(200, signal)
    }
  },
}

export const sessions: readonly Fault[] = [terminated]
