/** What stands around the pages: keys, address, scopes, a lost connection, two tabs. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  buildDashboard,
  hasChromium,
  launchBrowser,
  openPage,
  type ServedApp,
  serveApp,
  settled,
} from "../support/dashboard.ts"
import { type DashboardData, dashboardData, jobs } from "../support/dashboard-data.ts"

describe.skipIf(!hasChromium())("around the pages of the dashboard", () => {
  let browser: Browser
  let data: DashboardData
  let served: ServedApp
  beforeAll(async () => {
    buildDashboard()
    ;[browser, data] = await Promise.all([launchBrowser(), dashboardData()])
    served = await serveApp(data.app, { environment: "production" })
  })
  afterAll(async () => {
    await browser.close()
    await served.close()
    await data.close()
  })

  it("keys alone find a run, filter runs and go to pages", async () => {
    const { page, faults } = await openPage(browser, `${served.url}/`)
    await settled(page)
    await page.keyboard.press("Control+k")
    await page.locator(".palette input:focus").waitFor()
    await page.keyboard.type(data.dead)
    await page.keyboard.press("Enter")
    await page.waitForURL(`${served.url}/runs/${data.dead}`)
    await page.locator(".palette").waitFor({ state: "detached" })
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.waitForURL(`${served.url}/runs`)
    await page.locator("tbody tr").first().waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("job:invoice.render")
    await page.keyboard.press("Enter")
    await page.waitForURL((url) => url.searchParams.get("filter") === "job:invoice.render")
    await page.locator("tbody tr").nth(2).waitFor({ state: "detached" })
    expect(await page.locator("tbody tr").count()).toBe(2)
    await page.locator("main").focus()
    await page.keyboard.press("j")
    await page.locator("tr[data-focus=true]").waitFor()
    await page.keyboard.press("x")
    await page.getByText("1 run selected").waitFor()
    await page.keyboard.press("Escape")
    await page.getByText("1 run selected").waitFor({ state: "detached" })
    expect(faults).toEqual([])
    await page.context().close()
  })

  it("the address keeps filter, state and zone", async () => {
    const { page } = await openPage(browser, `${served.url}/runs?state=dead&filter=tenant:globex&time=utc`)
    await page.locator("tbody tr").first().waitFor()
    expect(await page.locator(".token").allTextContents()).toEqual(["tenant:globex"])
    expect(await page.locator(".tabs [aria-current]").textContent()).toContain("Dead")
    expect(await page.locator(".zone-switch [aria-pressed=true]").textContent()).toBe("UTC")
    await page.context().close()
  })

  it("a filter with a mistake says where and what was meant", async () => {
    const { page } = await openPage(browser, `${served.url}/runs?filter=stat:dead`)
    await page
      .locator(".failure")
      .getByText(/did you mean/)
      .first()
      .waitFor()
    await page.context().close()
  })

  it("a server that asks for tokens gets one by a form, and says so of a wrong one", async () => {
    const asking = await serveApp(data.app, { access: "tokens" })
    const { token } = await data.app.tokens.create({ name: "ida", scopes: ["read"] })
    const { page } = await openPage(browser, `${asking.url}/runs`)
    const field = page.getByLabel("Token")
    await field.fill("carillon_0000000000000000_wrong")
    await field.press("Enter")
    await page.getByText("does not accept this token").waitFor()
    await field.fill(token)
    await field.press("Enter")
    await page.getByText("read-only").waitFor()
    await page.locator("tbody tr").first().waitFor()
    await page.context().close()
    await asking.close()
  })

  it("a caller with the scope read sees all and presses nothing, and is told why", async () => {
    const { page } = await openPage(browser, "about:blank")
    await page.route("**/api/v1/session", (route) =>
      route.fulfill({ json: { scopes: ["read"], actor: "ida", environment: "production", version: "1" } }),
    )
    await page.goto(`${served.url}/runs/${data.dead}`)
    await page.getByText("read-only").waitFor()
    const button = page.getByRole("button", { name: "Discard…" })
    expect(await button.getAttribute("title")).toBe("Needs scope operate. You have read.")
    await button.click({ force: true })
    expect(await page.getByRole("dialog").count()).toBe(0)
    await page.context().close()
  })

  it("production is named, and has a rail along the top", async () => {
    const { page } = await openPage(browser, `${served.url}/`)
    await page.locator(".environment", { hasText: "Production" }).waitFor()
    await page.locator(".rail-production").waitFor({ state: "attached" })
    await page.context().close()
  })

  it("a lost connection is shown and heals, and what was read stays", async () => {
    const { page } = await openPage(browser, `${served.url}/runs`)
    await page.locator("tbody tr").first().waitFor()
    await page.context().setOffline(true)
    await page.getByText("No connection to the server").waitFor({ timeout: 15_000 })
    expect(await page.locator("tbody tr").count()).toBeGreaterThan(0)
    await page.context().setOffline(false)
    await page.getByRole("button", { name: "Try now" }).click()
    await page.getByText("No connection to the server").waitFor({ state: "detached", timeout: 15_000 })
    await page.context().close()
  })

  it("two tabs show the same run within seconds", async () => {
    const tabs = await Promise.all(
      [0, 1].map(() => openPage(browser, `${served.url}/runs?filter=tag:two-tabs`)),
    )
    for (const { page } of tabs) await page.getByText("No run matches").waitFor()
    await data.app.enqueue(jobs.mail, {}, { tags: ["two-tabs"], delay: "1h" })
    for (const { page } of tabs) await page.locator("tbody tr").first().waitFor({ timeout: 15_000 })
    for (const { page } of tabs) await page.context().close()
  })

  it("twice the size hides nothing and scrolls in one direction only", async () => {
    const { page } = await openPage(browser, `${served.url}/runs`, { viewport: { width: 720, height: 450 } })
    await page.locator("tbody tr").first().waitFor()
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
    await page.context().close()
  })
})
