/** The dashboard in a real browser, on a test app whose clock stands still. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { serve } from "@hono/node-server"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import type { HttpOptions } from "../../src/http/options.ts"
import { httpOf } from "./http-calls.ts"
import { ROOT } from "./sources.ts"

export const CHROMIUM = "/usr/bin/chromium"

/** Installs Chromium where that is possible. If not, says on the console which tests are left out. */
export function hasChromium(): boolean {
  if (!existsSync(CHROMIUM) && process.getuid?.() === 0 && existsSync(APT)) install()
  if (existsSync(CHROMIUM)) return true
  console.warn(
    `The tests of the dashboard are left out: there is no ${CHROMIUM}. As root: \`apt-get install chromium\`.`,
  )
  return false
}

const APT = "/usr/bin/apt-get"

function install(): void {
  const options = { stdio: "ignore", timeout: 300_000 } as const
  try {
    execFileSync(APT, ["update"], options)
    execFileSync(APT, ["install", "--yes", "--no-install-recommends", "chromium"], options)
  } catch {
    // The warning says what is missing.
  }
}

/** Without these, Chromium speaks to its maker's servers by itself. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: QUIET })
}

/** Builds the page if it is older than its sources. */
export function buildDashboard(): void {
  execFileSync(process.execPath, [join(ROOT, "scripts/build-dashboard.mjs")], { stdio: "pipe" })
}

export interface ServedApp {
  /** With the base path, and without a slash at its end. */
  readonly url: string
  readonly close: () => Promise<void>
}

export function serveApp(app: object, options: Partial<HttpOptions> = {}): Promise<ServedApp> {
  const { http } = httpOf(app, { access: "open", ...options })
  return new Promise((resolve) => {
    const server = serve(
      { fetch: (request) => http.fetch(request), hostname: "127.0.0.1", port: 0 },
      (address: AddressInfo) =>
        resolve({
          url: `http://127.0.0.1:${address.port}${options.basePath ?? ""}`,
          close: () =>
            new Promise((closed) => {
              server.close(() => closed())
              if ("closeAllConnections" in server) server.closeAllConnections()
            }),
        }),
    )
  })
}

/** How many pixels a page is too wide. */
export const OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

export interface WatchedPage {
  readonly page: Page
  /** What the page did that it must not: errors, refused code, requests to other origins. */
  readonly faults: string[]
}

/** A page that notes its faults. A failed request shows on the page; it is no fault by itself. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    timezoneId: "Europe/Oslo",
    reducedMotion: "reduce",
    ...options,
  })
  const page = await context.newPage()
  const faults: string[] = []
  const { origin } = new URL(url)
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`))
  page.on("console", (message) => {
    if (message.type() !== "error" || message.text().startsWith("Failed to load resource")) return
    faults.push(`console: ${message.text()}`)
  })
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`request: ${request.url()}`)
  })
  await page.addInitScript(
    `addEventListener("securitypolicyviolation", (event) => console.error("refused " + event.blockedURI))`,
  )
  await page.goto(url)
  return { page, faults }
}

/** Waits until no part of the page still reads for the first time. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector("main .page, main .message", { timeout: 15_000 })
  // The policy of the page refuses to evaluate text again and again, so the browser cannot be asked for a condition.
  const reading = page.locator(".skeletons")
  while ((await reading.count()) > 0) await reading.first().waitFor({ state: "detached", timeout: 15_000 })
}

export interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly string[]
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** What axe finds that is serious or critical. */
export async function seriousViolations(page: Page): Promise<readonly Violation[]> {
  // The policy of the page refuses inline code, and this does not run as code of the page.
  await page.evaluate(AXE)
  return page.evaluate(`axe.run(document).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.slice(0, 3).map((node) => node.html.slice(0, 200)) }))
  )`)
}
