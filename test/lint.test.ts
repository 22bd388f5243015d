/** Proof that the linter fails on what the project forbids, with the settings of `npm run check`. */
import { describe, expect, it } from "vitest"
import { lint } from "./support/lint.ts"

describe("the linter turns red", async () => {
  const GLOBALS = "lint/style/noRestrictedGlobals"
  const IMPORTS = "lint/style/noRestrictedImports"
  const faults: readonly (readonly [name: string, rule: string, text: string])[] = [
    ["date-now", "plugin", "export const a = () => Date.now()\n"],
    ["new-date", "plugin", "export const a = () => new Date()\n"],
    ["date-alias", "plugin", "export const { now } = Date\n"],
    ["performance", GLOBALS, "export const a = () => performance.now()\n"],
    ["set-timeout", GLOBALS, "export const a = (b: () => void) => setTimeout(b, 5)\n"],
    ["process-env", GLOBALS, "export const a = process.env\n"],
    ["web-crypto", GLOBALS, "export const a = () => crypto.randomUUID()\n"],
    ["global-this", GLOBALS, "export const { Date: Clock } = globalThis\n"],
    ["math-random", "plugin", "export const a = () => Math.random()\n"],
    ["math-alias", "plugin", "export const { random } = Math\n"],
    ["signal-timeout", "plugin", "export const a = () => AbortSignal.timeout(5)\n"],
    [
      "random-uuid",
      IMPORTS,
      'import { randomUUID } from "node:crypto"\n\nexport const a = () => randomUUID()\n',
    ],
    [
      "whole-crypto",
      IMPORTS,
      'import * as all from "node:crypto"\n\nexport const a = () => all.randomUUID()\n',
    ],
    ["later-crypto", IMPORTS, 'export const a = () => import("node:crypto")\n'],
    [
      "node-timers",
      IMPORTS,
      'import { setTimeout } from "node:timers/promises"\n\nexport const a = () => setTimeout(5)\n',
    ],
    ["console", "lint/suspicious/noConsole", 'export const a = () => console.log("a")\n'],
    ["any", "lint/suspicious/noExplicitAny", "export const a = (b: any) => b\n"],
    [
      "floating",
      "lint/nursery/noFloatingPromises",
      "async function b() {}\nexport function a() {\n  b()\n}\n",
    ],
    [
      "cycle",
      "lint/suspicious/noImportCycles",
      'import { b } from "./cycle-back.ts"\n\nexport const a = () => b()\n',
    ],
    ["unformatted", "format", "export const a   =  1;\n"],
  ]
  const findings = await lint({
    ...Object.fromEntries(faults.map(([name, , text]) => [`src/engine/${name}.ts`, text])),
    "src/engine/cycle-back.ts": 'import { a } from "./cycle.ts"\n\nexport const b = (): unknown => a()\n',
    "src/engine/fine.ts":
      'import { createHash } from "node:crypto"\n\nexport const a = () => createHash("sha256")\n',
    "src/engine/date-type.ts": "export interface A {\n  readonly due: Date\n}\n",
    "src/runtime/system.ts": "export const a = () => Date.now() + Math.random()\n",
    "src/time/instant.ts": "export const a = (ms: number) => new Date(ms)\n",
  })
  const rulesFor = (path: string) =>
    findings.filter((finding) => finding.path === path).map(({ rule }) => rule)

  it.each(faults)("at src/engine/%s.ts: %s", (name, rule) => {
    expect(rulesFor(`src/engine/${name}.ts`)).toContain(rule)
  })

  it("and stays green for hashing, and in the homes of time and chance", () => {
    expect(rulesFor("src/engine/fine.ts")).toEqual([])
    expect(rulesFor("src/engine/date-type.ts")).toEqual([])
    expect(rulesFor("src/runtime/system.ts")).toEqual([])
    expect(rulesFor("src/time/instant.ts")).toEqual([])
  })
})
