/**
 * The demo of `carillon dev`: jobs, schedules and runs that make its first minute worth a look.
 *
 * A schedule plays the customers of a shop with several tenants. Each of its runs enqueues a few others.
 */
import type { Carillon } from "../../api/carillon.ts"
import type { CarillonOptions } from "../../api/options.ts"
import { defineSchedule } from "../../api/schedules/declared.ts"
import { defineJob } from "../../job/define.ts"
import type { Host } from "../../runtime/host.ts"
import { createDemoJobs, type DemoJobs } from "./jobs.ts"

export interface Demo {
  readonly options: Pick<CarillonOptions, "application" | "jobs" | "pools" | "schedules">
  /** Enqueues the first runs. A later start adds nothing to them for a day. */
  readonly open: (carillon: Carillon) => Promise<void>
}

const TENANTS = ["acme", "globex", "initech", "umbrella"] as const
const TEMPLATES = ["welcome", "receipt", "newsletter"] as const
const WIDTHS = [200, 800, 1600] as const
const FIRST_RUNS_KEPT = "1d"

export function createDemo(host: Host): Demo {
  const jobs = createDemoJobs(host)
  const oneOf = <T>(values: readonly [T, ...T[]]) =>
    values[Math.floor(host.random() * values.length)] ?? values[0]
  const happens = (share: number) => host.random() < share
  let opened: Carillon | undefined

  const customers = defineJob({
    name: "shop.customers",
    history: "short",
    run: async () => {
      if (opened !== undefined) await order(opened)
    },
  })

  /** An order with all that follows from it. */
  async function order(carillon: Carillon): Promise<void> {
    const order = String(10_000 + Math.floor(host.random() * 90_000))
    const tenant = oneOf(TENANTS)
    const region = oneOf(["eu", "us"])
    const options = { tenant, tags: [region] }
    await carillon.enqueue(jobs.createInvoice, { order }, options)
    const priority = happens(0.2) ? 10 : 0
    await carillon.enqueue(
      jobs.sendEmail,
      { to: `customer-${order}@example.com`, template: oneOf(TEMPLATES) },
      { ...options, priority },
    )
    const images = WIDTHS.map((width) => ({ input: { image: `${order}.png`, width }, ...options }))
    if (happens(0.5)) await carillon.enqueueMany(jobs.resizeImage, images)
    if (happens(0.15)) await carillon.enqueue(jobs.capturePayment, { order, cents: 4_900 }, options)
  }

  async function open(carillon: Carillon): Promise<void> {
    opened = carillon
    const kept = { keyFor: FIRST_RUNS_KEPT }
    await carillon.enqueue(
      jobs.refund,
      { account: "DE-4711", cents: 1_250 },
      { key: "demo:refund", ...kept, tenant: "acme", tags: ["eu"] },
    )
    await carillon.enqueue(
      jobs.sendEmail,
      { to: "ada@example.com", template: "reminder" },
      { key: "demo:reminder", ...kept, tenant: "globex", delay: "1h" },
    )
    for (const kind of ["sales", "stock", "returns"]) {
      await carillon.enqueue(
        jobs.buildReport,
        { kind },
        { key: `demo:report:${kind}`, ...kept, tags: ["report"] },
      )
    }
  }

  return {
    options: {
      application: "demo",
      jobs: [...jobs.all, customers],
      pools: { default: 10, mail: 5, images: 3 },
      schedules: [
        defineSchedule({ name: "demo.customers", job: customers, every: "5s" }),
        ...schedulesOf(jobs),
      ],
    },
    open,
  }
}

function schedulesOf({ syncStock, buildReport, sendEmail }: DemoJobs) {
  return [
    defineSchedule({ name: "demo.stock", job: syncStock, every: "20s" }),
    defineSchedule({ name: "demo.report", job: buildReport, input: { kind: "live" }, cron: "* * * * *" }),
    defineSchedule({
      name: "demo.newsletter",
      job: sendEmail,
      input: { to: "everyone@example.com", template: "newsletter" },
      cron: "0 9 * * 1",
      timeZone: "Europe/Oslo",
    }),
  ]
}
