/** Part "time": how fast and how bounded the time code is. */
import { versionOf } from "../tools/machine.mjs"
import { measureNexts } from "./nexts.mjs"
import { measurePreviews } from "./preview.mjs"
import { measureDowntime, measureLeapDay, measureParse, measureWorst } from "./worst.mjs"

export async function run() {
  const peers = {
    croner: versionOf("../../node_modules/croner/package.json"),
    "cron-parser": versionOf("../../node_modules/cron-parser/package.json"),
  }
  console.log(`croner ${peers.croner}, cron-parser ${peers["cron-parser"]}; medians of 5 interleaved rounds`)
  // The worst first: hostile input does not wait for a warm process.
  const worst = measureWorst()
  return {
    peers,
    worst,
    parse: measureParse(),
    downtime: measureDowntime(),
    leapDay: measureLeapDay(),
    nexts: { utc: measureNexts("UTC"), newYork: measureNexts("America/New_York") },
    previews: measurePreviews(),
  }
}
