/** The text of a token: `carillon_<id>_<secret>`. */
import { createHash } from "node:crypto"
import type { Host } from "../../runtime/host.ts"

const FORM = /^carillon_([0-9a-f]{16})_([0-9a-f]{64})$/
const DIGITS = 16

/** 64 random bits for the id, and 256 for the secret. */
export function newToken({ randomBits }: Pick<Host, "randomBits">): {
  readonly id: string
  readonly text: string
  readonly hash: string
} {
  const draw = () => BigInt.asUintN(64, randomBits()).toString(16).padStart(DIGITS, "0")
  const id = draw()
  const secret = draw() + draw() + draw() + draw()
  return { id, text: `carillon_${id}_${secret}`, hash: hashOf(secret) }
}

/** The parts of a token. Undefined for a text that is none. */
export function readToken(text: string): { readonly id: string; readonly hash: string } | undefined {
  const [, id, secret] = FORM.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, hash: hashOf(secret) }
}

/** Looks at every digit, so that the time says nothing about where two hashes differ. */
export function isSameHash(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let index = 0; index < one.length; index += 1) {
    difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  }
  return difference === 0
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex")
}
