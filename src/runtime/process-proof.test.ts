import { spawn } from "node:child_process"
import { once } from "node:events"
import { describe, expect, it } from "vitest"
import { createProcessProof, type ProofParts } from "./process-proof.ts"
import { createSystemHost } from "./system.ts"

const NAMESPACE = "pid:[4026531836]"
const BOOT = "c0ffee"

/** What /proc says of a process; a name may hold anything. */
const statOf = (pid: number, born: number, { state = "S", threads = 9 } = {}) =>
  `${pid} (a) S (b)) ${state} 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 ${threads} 0 ${born} 9 9`

/** `own` is what /proc takes this process for. */
function proofOf(
  stats: Readonly<Record<number, string>>,
  over: Partial<ProofParts> = {},
  own = over.pid ?? 7,
) {
  return createProcessProof({
    platform: "linux",
    hostname: "here",
    pid: 7,
    readText: (path) => {
      if (path.endsWith("boot_id")) return `${BOOT}\n`
      const [, , of] = path.split("/")
      const stat = stats[of === "self" ? own : Number(of)]
      if (stat === undefined) throw new Error("ENOENT")
      return stat
    },
    readLink: () => NAMESPACE,
    isUnknown: (pid) => stats[pid] === undefined,
    ...over,
  })
}

const OWN = { 7: statOf(7, 100) }

describe("the mark of a process", () => {
  it("is its host, boot and namespace, and when it was started", () => {
    expect(proofOf(OWN).self).toEqual({ home: `here/${BOOT}/${NAMESPACE}`, born: "100" })
  })

  it.each<[string, Partial<ProofParts>]>([
    ["another namespace", { readLink: () => "pid:[1]" }],
    ["another host", { hostname: "there" }],
    ["another boot", { readText: (path) => (path.endsWith("boot_id") ? "tea" : statOf(7, 100)) }],
  ])("has another home in %s", (_, over) => {
    expect(proofOf(OWN, over).self?.home).not.toBe(proofOf(OWN).self?.home)
  })

  it.each<[string, Partial<ProofParts>]>([
    ["elsewhere than on Linux", { platform: "darwin" }],
    ["without /proc", { pid: 8 }],
    [
      "where the namespace is not to be read",
      {
        readLink: () => {
          throw new Error("EACCES")
        },
      },
    ],
  ])("is missing %s, so that nothing is proven", (_, over) => {
    expect(proofOf(OWN, over).self).toBeUndefined()
  })

  it("is missing where /proc is that of another namespace, whose numbers are other processes", () => {
    expect(proofOf({ ...OWN, 4711: statOf(4_711, 100) }, {}, 4_711).self).toBeUndefined()
  })
})

describe("a process", () => {
  it("that lives is not gone", () => {
    expect(proofOf({ ...OWN, 9: statOf(9, 200) }).isGone(9, "200")).toBe(false)
  })

  it("that the system does not know is gone", () => {
    expect(proofOf(OWN).isGone(9, "200")).toBe(true)
  })

  it("that is hidden, but known to the system, is not gone", () => {
    expect(proofOf(OWN, { isUnknown: () => false }).isGone(9, "200")).toBe(false)
  })

  it("whose number was given to another one is gone", () => {
    expect(proofOf({ ...OWN, 9: statOf(9, 300) }).isGone(9, "200")).toBe(true)
  })

  it("that has ended, and that its parent has not asked about, is gone; with threads left it is not", () => {
    expect(proofOf({ ...OWN, 9: statOf(9, 200, { state: "Z", threads: 1 }) }).isGone(9, "200")).toBe(true)
    expect(proofOf({ ...OWN, 9: statOf(9, 200, { state: "Z", threads: 3 }) }).isGone(9, "200")).toBe(false)
  })

  it.skipIf(process.platform !== "linux")(
    "of the system is gone when it was killed, and not before",
    async () => {
      const { self, isGone } = createSystemHost().processes ?? {}
      expect(isGone?.(process.pid, self?.born ?? "")).toBe(false)
      expect(isGone?.(process.pid, "1")).toBe(true)
      const child = spawn(process.execPath, [
        "-e",
        "setInterval(() => {}, 1e6); console.log(require('fs').readFileSync('/proc/self/stat', 'utf8'))",
      ])
      const [stat] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string]
      const born = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
      expect(isGone?.(child.pid ?? 0, born)).toBe(false)
      child.kill("SIGSTOP")
      expect(isGone?.(child.pid ?? 0, born)).toBe(false)
      child.kill("SIGKILL")
      await once(child, "exit")
      expect(isGone?.(child.pid ?? 0, born)).toBe(true)
    },
  )
})
