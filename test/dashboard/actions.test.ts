/** Each action asks, says what it will do, takes a reason, and shows what the server has done. */
import type { Browser, Page } from "playwright-core"
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

const REFUSED = JSON.stringify({
  code: "RUN_NOT_FOUND",
  status: 409,
  detail: "This run has ended meanwhile.",
})

describe.skipIf(!hasChromium())("an action on the dashboard", () => {
  let browser: Browser
  let data: DashboardData
  let served: ServedApp
  let page: Page
  let faults: string[]
  beforeAll(async () => {
    buildDashboard()
    ;[browser, data] = await Promise.all([launchBrowser(), dashboardData()])
    served = await serveApp(data.app, { basePath: "/ops" })
    ;({ page, faults } = await openPage(browser, `${served.url}/`))
  })
  afterAll(async () => {
    expect(faults).toEqual([])
    await browser.close()
    await served.close()
    await data.close()
  })

  async function open(path: string): Promise<void> {
    await page.goto(`${served.url}${path}`)
    await settled(page)
  }
  async function confirm(name: RegExp, reason: string): Promise<void> {
    await page.getByRole("dialog").getByLabel("Reason").fill(reason)
    await page.getByRole("dialog").getByRole("button", { name }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
  }
  async function lastReason(subject: string): Promise<string | undefined> {
    return (await data.app.audit.list({ subject })).items[0]?.reason
  }

  it("makes a waiting run due now", async () => {
    await open(`/runs/${data.waiting}`)
    await page.getByRole("button", { name: "Run now" }).click()
    await confirm(/Run it now/, "the customer waits")
    await page.getByText("It is due now.").waitFor()
    expect(await lastReason(`run:${data.waiting}`)).toBe("the customer waits")
  })

  it("cancels a run", async () => {
    await open(`/runs/${data.waiting}`)
    await page.getByRole("button", { name: "Cancel…" }).click()
    await confirm(/Cancel the run/, "not needed")
    await page.locator(".state-big", { hasText: "Cancelled" }).waitFor()
    expect(await data.app.runs.get(data.waiting)).toMatchObject({ state: "cancelled" })
  })

  it("takes no input that is not JSON", async () => {
    await open(`/runs/${data.dead}`)
    await page.getByRole("button", { name: "Edit and replay…" }).click()
    await page.getByRole("dialog").getByRole("textbox", { name: "Input" }).fill("{ not json")
    await page.getByText("This is not JSON").waitFor()
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /Replay with this input/ })
      .click()
    expect(await data.app.runs.get(data.dead)).toMatchObject({ state: "dead" })
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
  })

  it("replays a dead letter with another input, and the run succeeds", async () => {
    await open(`/runs/${data.dead}`)
    await page.getByRole("button", { name: "Edit and replay…" }).click()
    await page.getByRole("dialog").getByRole("textbox", { name: "Input" }).fill('{ "tax": 0.25 }')
    await confirm(/Replay with this input/, "the rate was missing")
    await data.app.drain()
    await page.locator(".state-big", { hasText: "Succeeded" }).waitFor()
    expect(await data.app.runs.get(data.dead)).toMatchObject({ state: "succeeded", input: { tax: 0.25 } })
  })

  it("replays one dead letter of a group before it offers the rest", async () => {
    await open("/dead-letters")
    const rest = page.getByRole("button", { name: /^Replay \d+…/ })
    expect(await rest.getAttribute("aria-disabled")).toBe("true")
    await page.getByRole("button", { name: "Replay one" }).click()
    await confirm(/Replay one/, "try again")
    await data.app.drain()
    await data.app.clock.advance("2s")
    await data.app.drain()
    await page.getByText("Mend the cause first").waitFor()
    expect(await rest.getAttribute("aria-disabled")).toBe("true")
  })

  it("asks for a typed word before it discards a group", async () => {
    await open("/dead-letters")
    await page.getByRole("button", { name: /^Discard 1…/ }).click()
    const button = page.getByRole("dialog").getByRole("button", { name: "Discard 1" })
    expect(await button.getAttribute("aria-disabled")).toBe("true")
    await page.getByRole("dialog").getByLabel(/^Type/).fill("discard 1")
    await confirm(/Discard 1/, "no longer needed")
    await page.getByText("1 dead letter discarded.").waitFor()
    expect((await data.app.deadLetters.list()).items).toEqual([])
  })

  it("pauses and resumes a schedule", async () => {
    await open("/schedules/nightly")
    await page.getByRole("button", { name: "Pause…" }).click()
    await confirm(/Pause it/, "a holiday")
    await page.getByRole("button", { name: "Resume…" }).waitFor()
    expect(await data.app.schedules.get("nightly")).toMatchObject({ state: "paused" })
    await page.getByRole("button", { name: "Resume…" }).click()
    await confirm(/Resume it/, "the holiday is over")
    await page.getByRole("button", { name: "Pause…" }).waitFor()
    expect(await data.app.schedules.get("nightly")).toMatchObject({ state: "active" })
  })

  it("runs a schedule now and skips its next fire", async () => {
    await open("/schedules/nightly")
    const before = await data.app.schedules.get("nightly")
    await page.getByRole("button", { name: "Skip next…" }).click()
    await confirm(/Skip it/, "the source is closed")
    await page.getByText("The next fire of nightly is skipped.").waitFor()
    expect((await data.app.schedules.get("nightly"))?.next).not.toEqual(before?.next)
    await page.getByRole("button", { name: "Run now…" }).click()
    await confirm(/Run it now/, "by hand")
    await page.getByText("nightly made a run.").waitFor()
  })

  it("is refused by the server in the dialog, with what to do", async () => {
    const { id } = await data.app.enqueue(jobs.mail, {}, { delay: "1h" })
    await open(`/runs/${id}`)
    await page.getByRole("button", { name: "Cancel…" }).click()
    await page.route("**/cancel", (route) =>
      route.fulfill({ status: 409, contentType: "application/problem+json", body: REFUSED }),
    )
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click()
    await page.getByRole("dialog").getByText("This run has ended meanwhile.").waitFor()
    await page.unroute("**/cancel")
  })

  it("resumes a pool", async () => {
    await open("/pools")
    await page.getByRole("button", { name: "Resume…" }).click()
    await confirm(/Resume it/, "mended")
    await page.getByRole("button", { name: "Pause pool mail…" }).waitFor()
    expect((await data.app.pools.get("mail"))?.paused).toBeUndefined()
  })
})
