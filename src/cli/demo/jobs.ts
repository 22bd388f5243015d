/** The jobs of the demo: a small shop that never closes. They differ in how long they take and how they fail. */
import { type AnyJob, defineJob } from "../../job/define.ts"
import type { Host } from "../../runtime/host.ts"

const STEPS = 10

export function createDemoJobs(host: Host) {
  /** Works for about this long, in steps that it tells of, and ends early when its attempt is aborted. */
  async function work(ms: number, signal: AbortSignal, onStep: (done: number) => void): Promise<void> {
    const stepMs = (ms * (0.5 + host.random())) / STEPS
    for (let step = 1; step <= STEPS; step += 1) {
      await host.sleep(stepMs, signal)
      signal.throwIfAborted()
      onStep(step / STEPS)
    }
  }

  const sendEmail = defineJob({
    name: "email.send",
    pool: "mail",
    timeout: "30s",
    run: async ({ to }: { to: string; template: string }, { signal }) => {
      await work(250, signal, () => {})
      return { accepted: [to] }
    },
  })
  const createInvoice = defineJob({
    name: "invoice.create",
    run: async ({ order }: { order: string }, { signal, log }) => {
      await work(1_200, signal, () => {})
      log("rendered", { order, pages: 2 })
      return { invoice: `INV-${order}` }
    },
  })
  const resizeImage = defineJob({
    name: "image.resize",
    pool: "images",
    history: "short",
    run: async (_: { image: string; width: number }, { signal }) => {
      await work(600, signal, () => {})
    },
  })
  const buildReport = defineJob({
    name: "report.build",
    concurrency: 1,
    timeout: "2m",
    run: async (_: { kind: string }, { signal, progress, log }) => {
      log("reading the orders of the day")
      await work(8_000, signal, (done) => progress({ done }))
      return { rows: 1_000 + Math.floor(host.random() * 500) }
    },
  })
  const capturePayment = defineJob({
    name: "payment.capture",
    retry: { attempts: 6, base: "2s", cap: "10s" },
    run: async ({ order }: { order: string; cents: number }, { signal, attempt }) => {
      await work(400, signal, () => {})
      if (attempt < 3) throw new Error(`The payment provider is busy. It declined order ${order}.`)
      return { captured: true }
    },
  })
  const refund = defineJob({
    name: "payment.refund",
    retry: { attempts: 2, base: "1s", cap: "1s" },
    run: async ({ account }: { account: string; cents: number }, { signal, generation }) => {
      await work(400, signal, () => {})
      // A replay is a new generation: as if the customer had opened the account again.
      if (generation === 1) throw new Error(`The account ${account} is closed.`)
      return { refunded: true }
    },
  })
  const syncStock = defineJob({
    name: "stock.sync",
    timeout: "1m",
    run: async (_: undefined, { signal, progress }) => {
      await work(3_000, signal, (done) => progress({ done }))
    },
  })
  const all: readonly AnyJob[] = [
    sendEmail,
    createInvoice,
    resizeImage,
    buildReport,
    capturePayment,
    refund,
    syncStock,
  ]
  return { all, sendEmail, createInvoice, resizeImage, buildReport, capturePayment, refund, syncStock }
}

export type DemoJobs = ReturnType<typeof createDemoJobs>
