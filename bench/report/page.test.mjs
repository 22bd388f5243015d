import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { renderReport } from "../report.mjs"

const DOCS = new URL("../../docs/", import.meta.url)
const page = readFileSync(new URL("benchmarks.md", DOCS), "utf8")

describe("the page of the benchmarks", () => {
  it("says what the results say, in its tables and its charts", () => {
    const { text, charts, unmeasured } = renderReport(page)
    expect(unmeasured).toEqual([])
    expect(text).toBe(page)
    const kept = readdirSync(new URL("charts/", DOCS)).map((file) => file.replace(/\.svg$/, ""))
    expect(kept.sort()).toEqual([...charts.keys()].sort())
    for (const [name, svg] of charts) {
      expect(readFileSync(new URL(`charts/${name}.svg`, DOCS), "utf8")).toBe(svg)
    }
  })

  it("answers in 250 lines, with the charts before every other figure", () => {
    expect(page.trimEnd().split("\n").length).toBeLessThanOrEqual(250)
    expect(page.match(/<!-- figures: (\w+) -->/)?.[1]).toBe("charts")
  })

  it("names the peer that is ahead before the first chart, with the ratios of its own table", () => {
    const [rates, peers, times] = ["Carillon", "graphile-worker", "times"].map((name) => rowOf(burst, name))
    expect(times).toEqual(rates.map((rate, at) => Number((rate / peers[at]).toFixed(2))))
    const [, full2, full4, ...burstTimes] = times
    const said = page.slice(0, page.indexOf("<!-- figures: charts -->")).match(/\b0\.\d\d\b/g)
    expect(full2).toBe(full4)
    expect(said.map(Number)).toEqual([full2, ...burstTimes])
  })

  it("leads to the record, and to no result of a part that is gone", () => {
    expect(page.match(/\(\.\.\/bench\/record\.md\)/g)).toHaveLength(1)
    const parts = [...page.matchAll(/bench\/results\/(\w+)\.json/g)].map(([, part]) => part)
    for (const part of parts)
      expect(existsSync(new URL(`../results/${part}.json`, import.meta.url))).toBe(true)
  })
})

/** The table that is written by hand, for its figures are not in bench/results. */
const burst = page.slice(page.indexOf("Measured again"), page.indexOf("## How fast are runs enqueued"))

function rowOf(text, name) {
  const row = text.split("\n").find((line) => line.startsWith(`| ${name} |`))
  return row
    .split("|")
    .slice(2, -1)
    .map((cell) => Number(cell.replaceAll(/[*, ]/g, "")))
}
