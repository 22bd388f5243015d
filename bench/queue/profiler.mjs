/** Which functions of this process take the time. */
import { Session } from "node:inspector/promises"

export async function createProfiler() {
  const inspector = new Session()
  inspector.connect()
  await inspector.post("Profiler.enable")
  await inspector.post("Profiler.start")
  return {
    /** Milliseconds in each function itself, the longest first. */
    stop: async () => selfTimes((await inspector.post("Profiler.stop")).profile),
  }
}

function selfTimes({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]))
  const times = new Map()
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = byId.get(id)
    const place = url === "" ? "" : ` ${url.split("/").slice(-3).join("/")}:${lineNumber + 1}`
    const where = `${functionName || "(anonymous)"}${place}`
    times.set(where, (times.get(where) ?? 0) + timeDeltas[index] / 1_000)
  }
  return [...times].sort((a, b) => b[1] - a[1])
}
