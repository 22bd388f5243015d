/** Real processes that schedule. */
import { fileURLToPath } from "node:url"
import { startProcess } from "../tools/processes.mjs"
import { CHILD_MS } from "./sizes.mjs"

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url))

/** Lends `count` processes that are at work. `ask` puts the same question to all of them. */
export async function withSchedulers({ url, count = 1, slots = 0 }, use) {
  const children = Array.from({ length: count }, () =>
    startProcess(CHILD, { name: "scheduler", mostMs: CHILD_MS }),
  )
  const ask = (question, task) => Promise.all(children.map((child) => child.ask(question, task)))
  try {
    await ask("start", { url, slots })
    return await use(ask)
  } finally {
    await Promise.all(children.map((child) => child.end()))
  }
}
