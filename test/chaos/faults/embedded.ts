/** Servers of Carillon's own, started by several at once and killed during their creation. */
import { existsSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as moment } from "node:timers/promises"
import { openDatabase } from "../../../src/api/open-database.ts"
import { resolveOptions } from "../../../src/api/options.ts"
import { createSystemHost } from "../../../src/runtime/system.ts"
import type { Story } from "../fault.ts"
import { type Examined, examineFolder } from "../judge.ts"
import { type Member, startMember } from "../member.ts"

const QUICK_MS = 60_000

function begin(folder: string, name: string, given: Readonly<Record<string, unknown>>): Member {
  const facts = {
    name,
    role: "worker" as const,
    folder,
    network: undefined,
    given: { schema: "carillon", ...given },
  }
  return startMember(facts, { lease: "2s" })
}

async function end(member: Member): Promise<void> {
  await member.call("stop")
  member.hangUp()
  await member.ended
}

async function killed(member: Member): Promise<void> {
  member.signal("SIGKILL")
  await member.ended
}

interface Place {
  readonly database?: "pglite"
  readonly dataDir: string
}

/** After the end of every process: their records, held against their data folder. */
async function examine(folder: string, place: Place): Promise<Examined> {
  const { database } = await openDatabase(createSystemHost(), resolveOptions(place), {})
  return examineFolder(folder, database)
}

/** Of several data folders, each with a history of its own. */
function together(all: readonly Examined[]) {
  const sum = (count: (each: Examined) => number) => all.reduce((total, each) => total + count(each), 0)
  const judged = [...new Set(all.flatMap((each) => each.judged))]
  return {
    runs: sum(({ runs }) => runs),
    attempts: sum(({ attempts }) => attempts),
    lost: sum(({ lost }) => lost),
    duplicates: sum(({ duplicates }) => duplicates),
    fenced: sum(({ fenced }) => fenced),
    judged,
    evidence: Object.fromEntries(judged.map((each) => [each, sum(({ evidence }) => evidence[each] ?? 0)])),
    complaints: all.flatMap(({ complaints }) => complaints),
  }
}

/** A folder in which processes keep their history. */
function makeFolder(...path: readonly [string, ...string[]]): string {
  const folder = join(...path)
  mkdirSync(join(folder, "history"), { recursive: true })
  return folder
}

const sharedFolder: Story = {
  id: "F33",
  ownLength: true,
  title: "a second process opens the same data folder",
  tell: async (folder) => {
    const complaints: string[] = []
    const examined = [
      await shareServer(makeFolder(folder, "shared"), complaints),
      await inheritPglite(makeFolder(folder, "alone"), complaints),
    ]
    const verdict = together(examined)
    return {
      ...verdict,
      done: "2 shared a server, 1 was refused by PGlite, 1 inherited from the dead",
      complaints: [...complaints, ...verdict.complaints],
    }
  },
}

async function shareServer(folder: string, complaints: string[]): Promise<Examined> {
  const place = { dataDir: join(folder, "embedded") }
  const two = [begin(folder, "one", place), begin(folder, "two", place)]
  await Promise.all(two.map((member) => member.call("start")))
  const rounds = await Promise.all(two.map((member) => member.call<boolean>("round")))
  if (!rounds.every(Boolean)) complaints.push("Two processes that share a server could not both use it.")
  const seen = await Promise.all(two.map((member) => member.call<number>("history", { final: true })))
  if (Math.min(...seen) < 2) complaints.push("Two processes that share a folder do not see the same runs.")
  await Promise.all(two.map(end))
  return examine(folder, place)
}

async function inheritPglite(folder: string, complaints: string[]): Promise<Examined> {
  const place = { database: "pglite", dataDir: join(folder, "pglite") } as const
  const first = begin(folder, "first", place)
  await first.call("start")
  await first.call("round")
  const second = begin(folder, "second", place)
  const refusal = await second.call("start").then(
    () => "it was let in",
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  )
  if (!refusal.startsWith("PGLITE_IN_USE") || !refusal.includes(String(first.pid))) {
    complaints.push(`The second on a PGlite folder must be refused with the pid of the first: ${refusal}.`)
  }
  await killed(second)
  await killed(first)
  const heir = begin(folder, "heir", place)
  await heir.call("start", {}, QUICK_MS)
  if (!(await heir.call<boolean>("round", {}, QUICK_MS)))
    complaints.push("The heir of a PGlite folder cannot use it.")
  const inherited = await heir.call<number>("history", { final: true })
  if (inherited < 2) complaints.push("The heir of a PGlite folder does not know what the first had done.")
  await end(heir)
  return examine(folder, place)
}

/** In so many trials both must have been met. */
const MOST_TRIALS = 12

/** Waits for the moment, and says what it falls into. */
async function whileItMakes(dataDir: string, hasServer: boolean, ms: number) {
  const server = join(dataDir, "postgres", "postmaster.pid")
  const untilMs = performance.now() + QUICK_MS
  while (!existsSync(hasServer ? server : dataDir) && performance.now() < untilMs) await moment(5)
  await moment(ms)
  return existsSync(server) ? ("the schema" as const) : ("the cluster" as const)
}

const killedAtFirst: Story = {
  id: "F34",
  title: "the first start is killed while it makes the cluster and the schema",
  tell: async (folder, chance, seconds) => {
    const complaints: string[] = []
    const examined: Examined[] = []
    const untilMs = performance.now() + seconds * 1_000
    const killedWhile = { "the cluster": 0, "the schema": 0, nothing: 0 }
    const isEnough = () => killedWhile["the cluster"] > 0 && killedWhile["the schema"] > 0
    for (let trial = 0; trial < 2 || performance.now() < untilMs || !isEnough(); trial += 1) {
      if (trial === MOST_TRIALS) break
      const home = makeFolder(folder, `trial-${trial}`)
      const place = { dataDir: join(home, "embedded") }
      // Twice in a row: what a killed start has left must not confuse the next one.
      for (const life of ["a", "b"]) {
        const member = begin(home, life, place)
        const isReady = member.call("start").then(
          () => true,
          () => false,
        )
        const makes = await Promise.race([
          isReady.then(() => "nothing" as const),
          // The first dies over the cluster, the second when its server has just begun, or with luck earlier.
          whileItMakes(place.dataDir, life === "b", chance.between(0, 250)),
        ])
        await killed(member)
        killedWhile[makes] += 1
      }
      const heir = begin(home, "c", place)
      const works = await heir
        .call("start", {}, QUICK_MS)
        .then(() => heir.call<boolean>("round", {}, QUICK_MS))
        .catch((error: Error) => error.message)
      if (works !== true) complaints.push(`After two killed starts the next one did not work: ${works}.`)
      if (heir.isUp()) {
        await heir.call("history", { final: true })
        await end(heir)
        examined.push(await examine(home, place))
      }
      rmSync(place.dataDir, { recursive: true, force: true, maxRetries: 5 })
    }
    if (!isEnough())
      complaints.push(
        `The fault never struck where it should: killed while making ${JSON.stringify(killedWhile)}.`,
      )
    const verdict = together(examined)
    return {
      ...verdict,
      done: Object.entries(killedWhile)
        .map(([what, times]) => `${times} first starts killed while they made ${what}`)
        .join(", "),
      judged: [...verdict.judged, "I24"],
      complaints: [...complaints, ...verdict.complaints],
    }
  },
}

export const embedded: readonly Story[] = [sharedFolder, killedAtFirst]
