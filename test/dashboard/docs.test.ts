/** The page of the HTTP API is readable in both themes, wide and narrow, and axe finds nothing serious. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  hasChromium,
  launchBrowser,
  OVERFLOW,
  openPage,
  type ServedApp,
  seriousViolations,
  serveApp,
} from "../support/dashboard.ts"

describe.skipIf(!hasChromium())("the page of the HTTP API", () => {
  let browser: Browser
  let served: ServedApp
  beforeAll(async () => {
    // No route of the API is asked, so there is nothing behind the handler.
    ;[browser, served] = await Promise.all([launchBrowser(), serveApp({}, { basePath: "/jobs" })])
  })
  afterAll(async () => {
    await browser.close()
    await served.close()
  })

  it("fits wide and narrow, dark and light, and its policy refuses nothing of it", async () => {
    const { page, faults } = await openPage(browser, `${served.url}/docs`)
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme })
      expect({ colorScheme, found: await seriousViolations(page) }).toEqual({ colorScheme, found: [] })
    }
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      expect({ width, overflow: await page.evaluate(OVERFLOW) }).toEqual({ width, overflow: 0 })
    }
    await page.getByRole("link", { name: "openapi.json" }).click()
    expect(page.url()).toBe(`${served.url}/openapi.json`)
    expect(faults).toEqual([])
    await page.context().close()
  }, 60_000)
})
