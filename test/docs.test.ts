/** The documentation, held against the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { documentedOptions, readReference } from "../scripts/generate/reference.mjs"
import { DEFAULT_MEANINGS, DEFAULTS } from "../src/defaults.ts"
import { ERROR_TABLE } from "../src/errors.ts"
import { wrongDefaults } from "./support/rules/defaults.ts"
import { errorClasses, undocumented, unlistedCodes, unthrownCodes } from "./support/rules/error-codes.ts"
import { brokenLinks, missingPaths, unnamedPaths } from "./support/rules/links.ts"
import { ROOT, readSources, type Source } from "./support/sources.ts"

const src = readSources("src", ".ts")
const codes = Object.keys(ERROR_TABLE)
const { pages: reference, unsaid } = await readReference()

describe("a generated page", () => {
  it.each(reference.map(({ path, text }) => [path, text]))("is up to date: %s", (path, text) => {
    expect(readPage(path), `${path} is out of date. Run \`npm run generate\` and look at the diff.`).toBe(
      text,
    )
  })

  it("is not left behind when nothing generates it any more", () => {
    const pages = readSources("docs/reference", ".md").filter(({ text }) => text.startsWith("<!-- Generated"))
    expect(reference.map(({ path }) => path)).toEqual(expect.arrayContaining(pages.map(({ path }) => path)))
  })
})

describe("the API", () => {
  it("is documented: each name and each member has a sentence", () => {
    expect(unsaid).toEqual([])
  })
})

describe("the table of errors", () => {
  const page = readPage("docs/reference/errors.md")

  it("holds no code that is never thrown", () => {
    expect(unthrownCodes(codes, src)).toEqual([])
  })

  it("holds every code that is thrown", () => {
    expect(unlistedCodes(codes, src)).toEqual([])
  })

  it("is documented, with every class", () => {
    expect(undocumented([...codes, ...errorClasses(src)], page)).toEqual([])
  })

  it("belongs to classes that users can catch", async () => {
    const publicNames = Object.keys(await import("../src/index.ts"))
    expect(publicNames).toEqual(expect.arrayContaining(errorClasses(src)))
  })
})

describe("the defaults", () => {
  it("are what the documentation of each option says", async () => {
    expect(wrongDefaults(await documentedOptions(), DEFAULTS)).toEqual([])
  })

  it("are documented, each of them", () => {
    const page = readPage("docs/reference/defaults.md")
    expect(undocumented(Object.keys(DEFAULTS), page)).toEqual([])
    expect(Object.keys(DEFAULT_MEANINGS)).toEqual(Object.keys(DEFAULTS))
  })
})

describe("the pages", () => {
  it("link to files and headings that are there", () => {
    const pages = [
      ...rootPages(),
      ...["docs", "examples", "bench", "test"].flatMap((folder) => readSources(folder, ".md")),
    ]
    expect(brokenLinks(pages, (path) => existsSync(join(ROOT, path)))).toEqual([])
  })
})

describe("the page about writing a test", () => {
  const page = { path: "test/README.md", text: readPage("test/README.md") }

  it("names files and folders that exist", () => {
    expect(missingPaths([page], (path) => existsSync(join(ROOT, path)))).toEqual([])
  })

  it("names every fixture", () => {
    const fixtures = readSources("test/support", ".ts", ".mjs").map(({ path }) => path)
    // Rooms of their own: a test takes them by the file that the page names.
    const inner = ["test/support/process/", "test/support/history/"]
    expect(
      unnamedPaths(
        page,
        fixtures.filter((path) => !inner.some((folder) => path.startsWith(folder))),
      ),
    ).toEqual([])
  })
})

function rootPages(): Source[] {
  return readdirSync(ROOT)
    .filter((file) => file.endsWith(".md"))
    .map((path) => ({ path, text: readPage(path) }))
}

/** A page that is missing has nothing in it. */
function readPage(path: string): string {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : ""
}
