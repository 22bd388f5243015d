/** What is left of every load while a snapshot is held, in one table. */
import { failures } from "./contests.mjs"
import { figure, measured, percent, spread, table, wrapped } from "./markdown.mjs"

/** By part, in the order of the page. */
const LOADS = {
  snapshot: {
    plain: "enqueued and executed at once",
    capped: "the same, at most 100 at once",
    latency: "to the start in another process, 300 a second",
  },
  delayed: { delayed: "enqueued and executed at once, each delayed by a second" },
  aged: {
    bulk: "*new processes:* enqueue in bulk",
    single: "enqueue one by one, 8 calls at once",
    drain1: "execute, 1 process",
    drain4: "execute, 4 processes",
    sameMs: "to the start in the same process, 300 a second",
    otherMs: "to the start in another process, 300 a second",
  },
}

export function leftSection(read) {
  const all = Object.fromEntries(Object.keys(LOADS).map((part) => [part, read(part)]))
  const names = Object.keys(all.snapshot.contenders)
  const rows = Object.entries(LOADS).flatMap(([part, loads]) =>
    Object.entries(loads).map(([load, title]) => [
      title,
      ...names.map((name) => spread(all[part].left[load]?.[name], percent)),
    ]),
  )
  const scheduled = read("scheduled")
  const rates = [
    "*jobs a second without a snapshot*",
    ...names.map((name) => figure(all.snapshot.figures.plain[name]?.atTheEnd?.median)),
  ]
  const ofSchedules = ["1,000 occurrences of schedules a second", spread(scheduled.left, percent)]
  return [
    table(
      ["what is left of the speed", ...names.map((name) => all.snapshot.contenders[name].title)],
      [rates, ...rows, [...ofSchedules, ...names.slice(1).map(() => "")]],
    ),
    wrapped(measured({ ...all, scheduled })),
    ...Object.values(all).flatMap(({ figures, contenders }) => failures(figures, contenders)),
  ].join("\n\n")
}
