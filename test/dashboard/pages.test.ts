/** Each page shows real data in both themes, wide and narrow, and axe finds nothing serious. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  buildDashboard,
  hasChromium,
  launchBrowser,
  OVERFLOW,
  openPage,
  type ServedApp,
  seriousViolations,
  serveApp,
  settled,
} from "../support/dashboard.ts"
import { type DashboardData, dashboardData, HOSTILE } from "../support/dashboard-data.ts"

const PAGES = [
  "/",
  "/runs",
  "/runs/{dead}",
  "/runs/{sent}",
  "/schedules",
  "/schedules/nightly",
  "/schedules/sweep",
  "/dead-letters",
  "/pools",
  "/jobs",
  "/metrics",
  "/audit",
  "/calendar",
  "/system",
] as const

describe.skipIf(!hasChromium())("the dashboard", () => {
  let browser: Browser
  let data: DashboardData
  let served: ServedApp
  beforeAll(async () => {
    buildDashboard()
    ;[browser, data] = await Promise.all([launchBrowser(), dashboardData()])
    served = await serveApp(data.app)
  })
  afterAll(async () => {
    await browser.close()
    await served.close()
    await data.close()
  })
  const pathOf = (page: string) => page.replace("{dead}", data.dead).replace("{sent}", data.sent)

  it.each([1440, 390])(
    "shows every page at %i px, dark and light, without a fault",
    async (width) => {
      const { page, faults } = await openPage(browser, `${served.url}/`, { viewport: { width, height: 900 } })
      for (const path of PAGES) {
        await page.goto(`${served.url}${pathOf(path)}`)
        await settled(page)
        const overflow = await page.evaluate(OVERFLOW)
        if (overflow !== 0) faults.push(`${path} is ${overflow} px too wide`)
        for (const colorScheme of ["dark", "light"] as const) {
          await page.emulateMedia({ colorScheme })
          const found = await seriousViolations(page)
          faults.push(...found.map(({ id, nodes }) => `${path}, ${colorScheme}: ${id} at ${nodes.join(" ")}`))
        }
      }
      expect(faults).toEqual([])
      await page.context().close()
    },
    120_000,
  )

  it("shows the seven panels where a person looks first", async () => {
    const { page } = await openPage(browser, `${served.url}/`)
    await settled(page)
    const titles = await page.locator("main h2").allTextContents()
    expect(titles).toEqual(
      expect.arrayContaining([
        "Due by job",
        "Oldest lag",
        "Failures by job",
        "Retries by tenant",
        "Pool saturation",
        "Lease expirations",
        "Dead letters",
      ]),
    )
    await page.context().close()
  })

  it("shows hostile text as text, wherever it comes from", async () => {
    const { page, faults } = await openPage(browser, `${served.url}/`)
    for (const path of [
      "/",
      "/runs/{sent}",
      "/runs/{dead}",
      "/schedules/sweep",
      "/dead-letters",
      "/audit",
      "/pools",
    ]) {
      await page.goto(`${served.url}${pathOf(path)}`)
      await settled(page)
      const text = await page.locator("main").innerText()
      expect({ path, isThere: text.includes(HOSTILE) || text.includes(JSON.stringify(HOSTILE)) }).toEqual({
        path,
        isThere: true,
      })
      expect(await page.locator("main img, main script").count()).toBe(0)
    }
    expect(faults).toEqual([])
    await page.context().close()
  })
})
