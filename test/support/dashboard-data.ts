/** An app with a bit of everything that the dashboard shows. */
import { defineJob, defineSchedule } from "../../src/index.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "./watched-app.ts"

/** Text that would be dangerous if it were anything but text. */
export const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}'`

const mail = defineJob({
  name: "mail",
  pool: "mail",
  run: async (input: { to?: string }, ctx) => {
    ctx.log(`to ${input.to ?? "the list"}`, { hostile: HOSTILE })
    return { sent: true, note: HOSTILE }
  },
})

const broken = defineJob({
  name: "invoice.render",
  pool: "billing",
  retry: { attempts: 2, delay: "1s" },
  run: async (input: { tax?: number }, ctx) => {
    ctx.log("look for the rate")
    if (input.tax === undefined)
      throw Object.assign(new TypeError(`tax_rate is ${HOSTILE}`), { code: "ETAX" })
    return { pages: 3 }
  },
})

export const jobs = { mail, broken } as const

export interface DashboardData {
  readonly kit: WatchedKit
  readonly app: WatchedApp
  readonly sent: string
  readonly dead: string
  readonly waiting: string
  readonly close: () => Promise<void>
}

export async function dashboardData(): Promise<DashboardData> {
  const kit = await createWatchedKit()
  const app = await kit.app({
    jobs: [mail, broken],
    schedules: [
      defineSchedule({ name: "nightly", job: mail, cron: "30 2 * * *", timeZone: "Europe/Oslo", input: {} }),
      defineSchedule({ name: "sweep", job: mail, every: "5m", input: { to: HOSTILE } }),
    ],
    application: HOSTILE,
    at: "2026-03-01T09:00Z",
  })
  const sent = await app.enqueue(mail, { to: HOSTILE }, { tenant: HOSTILE, tags: [HOSTILE], key: HOSTILE })
  const dead = await app.enqueue(broken, {}, { tenant: "globex" })
  await app.enqueue(broken, {}, { tenant: "globex" })
  await app.drain()
  await app.clock.advance("2s")
  await app.drain()
  const waiting = await app.enqueue(mail, { to: "ada" }, { delay: "1h", tenant: "acme" })
  await app.schedules.runNow("nightly", { actor: HOSTILE, reason: HOSTILE })
  await app.clock.advance("10m")
  await app.drain()
  await app.schedules.pause("sweep", { actor: "ida", reason: HOSTILE })
  await app.pools.pause("mail", { actor: HOSTILE, reason: HOSTILE })
  return {
    kit,
    app,
    sent: sent.id,
    dead: dead.id,
    waiting: waiting.id,
    close: async () => {
      await app.close()
      await kit.close()
    },
  }
}
