/** Groups errors that are likely the same. What differs from run to run is left out before they are compared. */
import { hash64 } from "../job/hash.ts"
import type { ErrorRecord } from "./error-record.ts"

const LENGTH = 200

/** 16 hexadecimal digits: the same for errors of one job with the same class, words and place in the user's code. */
export function fingerprintOf(job: string, error: ErrorRecord): string {
  const parts = [job, shapeOf(error), placeOf(error)]
  return hash64(parts.join("\n")).toString(16).padStart(16, "0")
}

/** The class and the words of an error, without ids, numbers, addresses and quoted texts. For people. */
export function shapeOf({ code, name, message }: ErrorRecord): string {
  return `${code ?? name ?? ""}:${withoutValues(message)}`.slice(0, LENGTH)
}

const QUOTED = /"[^"]*"|`[^`]*`|(?<![\p{L}\p{N}])'[^']*'/gu
const URL = /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s)\]}>]+/gi
/** Words, and words that are joined to one value: `10.0.0.1:5432`, `2026-03-01T09:00`, `ada@example.com`, `fe80::1`. */
const WORD = /[\p{L}\p{N}_]+(?:[.,:/@+-]+[\p{L}\p{N}_]+)*/gu
/** A value has a digit or an at sign, or is a long number in base 16. */
const VALUE = /[\p{N}@]|^[a-f]{8,}$/iu

function withoutValues(text: string): string {
  return text
    .slice(0, 4 * LENGTH)
    .replace(QUOTED, "…")
    .replace(URL, "#")
    .replace(WORD, (word) => (VALUE.test(word) ? "#" : word))
    .replace(/[-+.:]*#(?:[-+.:%]*#)*/g, "#")
}

/**
 * The topmost frame of the user's code, as function and file: lines move with every edit, and folders with every
 * deploy. Empty if the stack has no such frame.
 */
function placeOf({ message, stack }: ErrorRecord): string {
  if (stack === null) return ""
  // The message stands before the frames, and may look like one.
  const from = stack.indexOf(message)
  const frames = from < 0 ? stack : stack.slice(from + message.length)
  for (const line of frames.split("\n")) {
    const [, called = "", file = ""] =
      /^\s+at (?:async )?(?:(.*) \()?(.*?)(?::\d+)?(?::\d+)?\)?$/.exec(line) ?? []
    if (isUsers(file)) return `${withoutValues(called)} ${withoutValues(file.replace(/^.*[\\/]/, ""))}`
  }
  return ""
}

/** `Promise.all (index 0)` stands where a file is expected. */
function isUsers(file: string): boolean {
  return /[\\/]/.test(file) && !/(^|[\\/])node_modules[\\/]|^node:|^<anonymous>|^native$/.test(file)
}
