import { readFileSync } from "node:fs"
import { beforeAll, describe, expect, it } from "vitest"
import { type Difference, findDifferences, findSyntaxDifferences } from "./differences.ts"
import { renderPage } from "./differences-page.ts"

const PAGE = new URL("../../docs/reference/cron-differences.md", import.meta.url).pathname

describe("other libraries", { timeout: 60_000 }, () => {
  let differences: Difference[]
  beforeAll(() => {
    differences = findDifferences()
  }, 60_000)

  it("agree with Carillon on every ordinary day, or refuse to read", () => {
    expect(differences.filter(({ kind }) => kind === "ordinary" || kind === "refuses")).toEqual([])
  })

  /** After a look at the changes, `npx vitest run test/time/differences.test.ts -u` rewrites the page. */
  it("differ around clock changes and in grammar exactly as the page says", async () => {
    const versions = { croner: versionOf("croner"), "cron-parser": versionOf("cron-parser") }
    await expect(renderPage(differences, findSyntaxDifferences(), versions)).toMatchFileSnapshot(PAGE)
  })
})

function versionOf(name: string): string {
  const manifest = new URL(`../../node_modules/${name}/package.json`, import.meta.url)
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version
}
