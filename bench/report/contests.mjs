/** The tables of the parts in which contenders take turns, and what they were measured with. */
import { COSTS } from "../queue/print.mjs"
import { figure, measured, spread, table, wrapped } from "./markdown.mjs"

/** One table for several parts: a row for each contender, a column for each variant of each part. */
export function ratesSection(...columns) {
  return (read) => {
    const all = Object.fromEntries(columns.map(({ part }) => [part, read(part)]))
    const cells = columns.flatMap(({ part, prefix = "" }) => {
      const { variants, figures } = all[part]
      return Object.entries(variants).map(([variant, { title }]) => ({
        head: `${prefix}${title}`,
        of: (name) => cellOf(figures[variant][name], ({ perSecond }) => spread(perSecond)),
      }))
    })
    return [
      contendersTable(all, ["jobs a second", ...cells.map(({ head }) => head)], (name) =>
        cells.map(({ of }) => of(name)),
      ),
      ...footnotes(all),
    ].join("\n\n")
  }
}

/** What each job costs in one variant of a part, beside how fast it went. */
export function costsSection(part, variant) {
  return (read) => {
    const { [variant]: figures } = read(part).figures
    const { contenders } = read(part)
    const head = ["", "jobs a second", ...Object.values(COSTS), "history"]
    return [
      contendersTable({ [part]: read(part) }, head, (name) => [
        cellOf(figures[name], ({ perSecond }) => spread(perSecond)),
        ...Object.keys(COSTS).map((key) => figure(figures[name]?.costs?.[key])),
        contenders[name].keepsHistory ? "kept" : "none",
      ]),
      ...footnotes({ [part]: read(part) }),
    ].join("\n\n")
  }
}

/** Medians, with the slowest but one in a hundred in brackets. */
export function latencySection(read) {
  const all = { latency: read("latency") }
  const { variants, figures } = all.latency
  const both = ({ medianMs, p99Ms }) => medianMs && `${figure(medianMs.median)} (${figure(p99Ms.median)})`
  return [
    contendersTable(all, ["ms", ...Object.values(variants).map(({ title }) => title)], (name) =>
      Object.keys(variants).map((variant) => cellOf(figures[variant][name], both)),
    ),
    ...footnotes(all),
  ].join("\n\n")
}

/** By the word that the column bears, the part whose settings stand in it. */
const SETTINGS = {
  bulk: "bulk",
  single: "single",
  drain: "drain",
  both: "both",
  sleep: "sleep",
  latency: "latency",
}
const SERVERS = {
  postgres: "PostgreSQL",
  redis: "Redis, fsync every second",
  "redis-always": "Redis, fsync always",
}

/** The settings of each contender and of the servers, and what all contests share. */
export function settingsSection(read) {
  return [contendersSettings(read), machineLines(read)].join("\n\n")
}

/** Where the jobs of each contender stay, and the settings that it was measured with. */
function contendersSettings(read) {
  const all = Object.fromEntries(Object.entries(SETTINGS).map(([word, part]) => [word, read(part)]))
  return contendersTable(
    all,
    ["", "on", ...Object.keys(SETTINGS)],
    (name) => {
      const { on } = Object.values(all).find(({ contenders }) => contenders[name]).contenders[name]
      return [SERVERS[on], ...Object.values(all).map(({ contenders }) => settingsOf(contenders[name]))]
    },
    { isText: true },
  )
}

function settingsOf(contender) {
  if (contender === undefined) return ""
  const each = Object.values(contender.settings).map((settings) => wordsOf(settings))
  return [...new Set(each)].join(" or ")
}

function wordsOf(settings) {
  const words = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  return words.length === 0 ? "as it comes" : `\`${words.join(", ")}\``
}

/** The programs, the machine and the servers that all contests share. */
function machineLines(read) {
  const all = ["bulk", "single", "drain", "sleep", "both", "latency", "snapshot"].map(read)
  const words = (facts) => [...new Set(all.flatMap(facts))].join(", ")
  const programs = words(({ carillon, versions, contenderNode, servers }) => [
    `Carillon ${carillon}`,
    ...Object.entries(versions).map(([name, version]) => `${name} ${version}`),
    `Node ${contenderNode}`,
    `PostgreSQL ${servers.postgres.version}`,
  ])
  const machine = words(({ cpu, cores, memoryGb, fileSystem, kernel }) =>
    [cpu, `${cores} cores`, `${memoryGb} GB`, fileSystem, kernel].filter(Boolean),
  )
  const { postgres, redis } = read("both").servers
  const wordsOfServer = (server) =>
    Object.entries(server.settings).map(([name, value]) => `${name}=${value === "" ? "off" : value}`)
  // The two ways of flushing are two rows of every table.
  const ofRedis = wordsOfServer(redis).filter((word) => !word.startsWith("appendfsync="))
  return [
    `Programs: ${programs}. Machine: ${machine}.`,
    `PostgreSQL: ${wordsOfServer(postgres).join(" ")}`,
    `Redis: ${ofRedis.join(" ")}, and appendfsync=everysec or appendfsync=always`,
  ]
    .map((words) => wrapped(`- ${words}`, { indent: "  " }))
    .join("\n")
}

/** A row for each contender that takes part in one of the parts. */
function contendersTable(all, head, cellsOf, options) {
  const titles = new Map(
    Object.values(all).flatMap(({ contenders }) =>
      Object.entries(contenders).map(([name, { title }]) => [name, title]),
    ),
  )
  const rows = [...titles].map(([name, title]) => [title, ...cellsOf(name)])
  return table(head, rows, options)
}

function cellOf(figures, say) {
  if (figures === undefined) return ""
  return say(figures) || "**failed**"
}

/** When it was measured, and who failed. */
function footnotes(all) {
  return [
    wrapped(measured(all)),
    ...Object.values(all).flatMap(({ figures, contenders }) => failures(figures, contenders)),
  ]
}

export function failures(figures, contenders) {
  const all = Object.values(figures).flatMap((of) =>
    Object.entries(of).flatMap(([name, { failure }]) =>
      failure ? [`${contenders[name].title}: ${failure}`] : [],
    ),
  )
  return [...new Set(all.map((each) => `**Failed:** ${each.split("\n")[0]}.`))]
}
