/** Sections of the parts in which contenders take turns. */
import { COSTS, wanted } from "../queue/print.mjs"
import { barChart, lineChart } from "./chart.mjs"
import { figure, origin, spread, table, verdictCell } from "./markdown.mjs"

const UNITS = { perSecond: "jobs a second", medianMs: "median ms", p99Ms: "99 %, ms", atTheEnd: "at the end" }

/** Each contender's figures by variant, a table per figure, and what that is beside the best peer. */
export function contestSection(part, { keys = ["perSecond"], chart, scaling } = {}) {
  return (results, { writeChart }) => {
    const { variants, figures, contenders, verdicts, rounds, peerRounds, sizes } = results
    const pieces = [
      `${origin(part, results)} Medians of ${rounds} rounds, with the least and the most.`,
      ...keys.map((key) => figuresTable({ variants, figures, contenders, key, unit: UNITS[key] })),
      ...slowOnes(contenders, peerRounds ?? rounds, sizes?.count !== undefined),
      ...failures(figures, contenders),
    ]
    for (const each of chart === undefined ? [] : [chart].flat()) {
      const file = `${part}-${each.variant}`
      // In several ways each stands for itself, and says so.
      const title = each.among ? each.title : `${each.title}, ${variants[each.variant]?.title}`
      if (variants[each.variant] === undefined) continue
      const rows = barsOf(results, each)
      writeChart(file, barChart({ title, unit: each.unit, rows }))
      pieces.push(`![${title}: the figures of the table above](charts/${file}.svg)`)
    }
    if (scaling !== undefined) {
      writeChart(`${part}-scaling`, scalingChart(scaling, figures, contenders))
      pieces.push(`![${scaling}: the figures of the table above](charts/${part}-scaling.svg)`)
    }
    if (verdicts.length > 0) pieces.push(verdictsTable(verdicts, variants, contenders))
    return pieces.join("\n\n")
  }
}

/** What each job costs in one variant of a part. */
export function costsSection(part, variant) {
  return (results) => {
    const { figures, contenders, variants, rounds, peerRounds, sizes } = results
    const rows = Object.entries(contenders).flatMap(([name, { title, keepsHistory }]) => {
      const costs = figures[variant]?.[name]?.costs
      if (costs === undefined) return []
      return [[title, ...Object.keys(COSTS).map((key) => figure(costs[key])), keepsHistory ? "kept" : "none"]]
    })
    return [
      `${origin(part, results)} ${variants[variant].title}; medians of ${rounds} rounds.`,
      table(["", ...Object.values(COSTS), "history"], rows),
      ...slowOnes(contenders, peerRounds ?? rounds, sizes?.count !== undefined),
      `Log is the WAL of PostgreSQL or the append-only file of Redis; dead tuples are rows that an update or a delete leaves behind (${variants[variant].title}).`,
    ].join("\n\n")
  }
}

/** With which settings each contender was measured, and where its jobs stay. */
export function settingsSection() {
  return (results) => {
    const rows = Object.values(results.contenders).map(({ title, on, keepsHistory, settings }) => [
      title,
      { postgres: "PostgreSQL", redis: "Redis, fsync every second", "redis-always": "Redis, fsync always" }[
        on
      ],
      keepsHistory ? "kept" : "none",
      [...new Set(Object.values(settings).map((each) => `\`${JSON.stringify(each)}\``))].join(" or "),
    ])
    return table(["", "on", "history", "settings"], rows, { isText: true })
  }
}

/** The servers that everybody shares, in the words of their settings. */
export function serversSection() {
  return ({ servers }) =>
    Object.entries(servers)
      .map(([kind, { settings }]) => {
        const words = Object.entries(settings).map(
          ([name, value]) => `${name}=${value === "" ? "off" : value}`,
        )
        return `- ${kind}: \`${words.join(" ")}\``
      })
      .join("\n")
}

function figuresTable({ variants, figures, contenders, key, unit }) {
  const shown = Object.entries(variants).filter(([variant]) => Object.keys(figures[variant]).length > 0)
  const rows = Object.entries(contenders).map(([name, { title }]) => [
    title,
    ...shown.map(([variant]) => {
      const mine = figures[variant][name]
      if (mine === undefined) return ""
      return mine[key] === undefined ? "**failed**" : spread(mine[key])
    }),
  ])
  return table([unit, ...shown.map(([, { title }]) => title)], rows)
}

function verdictsTable(verdicts, variants, contenders) {
  const rows = verdicts.map(({ variant, key, bestPeer, from, times, floor, aim, isMore, verdict }) => [
    `${variants[variant].title}, ${UNITS[key]}`,
    bestPeer ? contenders[bestPeer].title : (variants[from]?.title ?? ""),
    times ?? "",
    wanted({ floor, aim, isMore }),
    verdictCell(verdict),
  ])
  return table(["Carillon", "beside", "times better", "wanted", ""], rows)
}

function slowOnes(contenders, peerRounds, isCounted) {
  const words = Object.values(contenders).flatMap(({ title, share, rounds }) => {
    const less = [
      ...(rounds < peerRounds ? [rounds === 1 ? "one round" : `${rounds} rounds`] : []),
      ...(isCounted && share < 1 ? [`${share * 100} % of the jobs`] : []),
    ]
    return less.length === 0 ? [] : [`${title} (${less.join(", ")})`]
  })
  return words.length === 0 ? [] : [`To save time, with less to do: ${words.join(", ")}.`]
}

export function failures(figures, contenders) {
  const all = Object.values(figures).flatMap((of) =>
    Object.entries(of).flatMap(([name, { failure }]) =>
      failure ? [`${contenders[name].title}: ${failure}`] : [],
    ),
  )
  return [...new Set(all.map((each) => `**Failed:** ${each.split("\n")[0]}.`))]
}

/** A bar for each contender, and for each way in which it was measured `among` several. */
function barsOf({ figures, contenders, variants }, { key, variant, among = [variant] }) {
  return Object.entries(contenders).flatMap(([name, { title, isOurs }]) =>
    among.flatMap((way) => {
      const mine = figures[way]?.[name]
      if (mine === undefined) return []
      const { median: value, least, most } = mine[key] ?? {}
      const label = way === variant ? title : `${title}, ${variants[way].title}`
      return [{ label, value, least, most, isOurs, note: "failed" }]
    }),
  )
}

/** By how many processes: the variants are their numbers. */
function scalingChart(title, figures, contenders) {
  const series = Object.entries(contenders).flatMap(([name, { title: label }]) => {
    const points = Object.entries(figures).flatMap(([processes, { [name]: found }]) =>
      found?.perSecond ? [[Number(processes), found.perSecond.median]] : [],
    )
    return points.length > 1 ? [{ label, points }] : []
  })
  return lineChart({ title, unit: "jobs a second", xUnit: "processes", series })
}
