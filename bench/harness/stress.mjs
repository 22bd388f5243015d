/** What is done to a system during a phase. Each begins it and returns what ends it. */
import { writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { connect } from "../tools/driver.mjs"

/** `on` is { server, url, tables, replicas, rateFile, rate }. */
export const STRESS = {
  clean: async () => async () => {},

  /** Holds a transaction with a number of its own: nothing newer can be cleaned up. */
  "idle-in-tx": async ({ url }) => {
    const client = await connect(url)
    await client.query("begin")
    await client.query("select pg_current_xact_id()")
    return () => client.end()
  },

  /** Reads the tables again and again, each reader in one long transaction. */
  "active-readers": async ({ url, tables }, { readers }) => {
    let isOver = false
    const reading = Array.from({ length: readers }, async () => {
      const client = await connect(url)
      await client.query("begin isolation level repeatable read")
      while (!isOver) {
        await client.query(`select count(*) from ${tables[0]}`)
        await sleep(100)
      }
      await client.end()
    })
    return async () => {
      isOver = true
      await Promise.all(reading)
    }
  },

  "high-load": async ({ rateFile, rate }, { multiplier }) => {
    writeFileSync(rateFile, String(rate * multiplier))
    return async () => writeFileSync(rateFile, String(rate))
  },

  /** Down for the first half of the phase. */
  "postgres-restart": async ({ server }, { seconds }) => {
    const restarting = server.restart(seconds * 500)
    return () => restarting
  },

  /** Ends every session that is doing something, again and again. */
  "pg-backend-kill": async ({ server, database }, { perSecond }) => {
    let isOver = false
    const killing = (async () => {
      while (!isOver) {
        await server.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = $1 and pid <> pg_backend_pid() and state in ('active', 'idle in transaction')`,
          [database],
        )
        await sleep(1_000 / perSecond)
      }
    })()
    return async () => {
      isOver = true
      await killing
    }
  },

  /** Holds connections that do nothing: three quarters of all, as the harness does. */
  "pool-exhaustion": async ({ url }, { connections }) => {
    const held = []
    try {
      while (held.length < connections) held.push(await connect(url))
    } catch (error) {
      console.error(`${held.length} of ${connections} connections are held: ${error.message}`)
    }
    return async () => {
      await Promise.all(held.map((client) => client.end()))
    }
  },

  /** Kills the first process and starts it again a second later. */
  "repeated-kill": async ({ replicas }, { periodS }) => {
    let isOver = false
    const killing = (async () => {
      while (!isOver) {
        await sleep(periodS * 1_000)
        if (isOver) return
        await replicas.kill(0)
        await sleep(1_000)
        replicas.start(0)
      }
    })()
    return async () => {
      isOver = true
      await killing
    }
  },
}
