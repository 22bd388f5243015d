/** Redis servers from the system's packages, one per way of being durable. A missing one is named, never left out. */
import { execFileSync, spawn } from "node:child_process"
import { rmSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { processMs } from "./cpu.mjs"
import { memoryMb } from "./memory.mjs"

/** As BullMQ's guide to production asks for: an append-only file, and nothing thrown away. */
const SETTINGS = {
  appendonly: "yes",
  save: "",
  "maxmemory-policy": "noeviction",
  // Ample like the memory and the WAL of PostgreSQL, so that no rewrite of the file falls into a measurement.
  "auto-aof-rewrite-percentage": "0",
}

export const FSYNC = { redis: "everysec", "redis-always": "always" }

let version

/** The version of the one that is installed, installing it where that can be done; undefined if there is none. */
export function redisVersion() {
  version ??= { found: findVersion() }
  return version.found
}

function findVersion() {
  const ask = () =>
    execFileSync("redis-server", ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
  try {
    return /v=([\d.]+)/.exec(ask())[1]
  } catch {
    try {
      console.log("Installing redis-server from the system's packages ...")
      execFileSync("apt-get", ["install", "-y", "redis-server"], {
        stdio: "ignore",
        // The service that comes with it is not wanted: servers are started here.
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" },
      })
      return /v=([\d.]+)/.exec(ask())[1]
    } catch {
      return undefined
    }
  }
}

/** `kind` is a key of FSYNC. */
export async function startRedis(kind) {
  const folder = await mkdtemp(join(tmpdir(), "carillon-bench-redis-"))
  // Through a socket, as PostgreSQL.
  const url = join(folder, "redis.sock")
  const settings = { ...SETTINGS, appendfsync: FSYNC[kind], port: "0", unixsocket: url, dir: folder }
  const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  const server = spawn("redis-server", words, { stdio: "ignore" })
  const exited = new Promise((resolve) => server.once("exit", resolve))
  // Who is impatient shall not leave a server behind.
  const abandon = () => {
    server.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  }
  process.once("exit", abandon)
  // Only here: where no peer could be installed, the rest can still be measured.
  const { default: Redis } = await import("ioredis")
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50 })
  client.on("error", () => {})
  while ((await client.ping().catch(() => undefined)) !== "PONG") await sleep(20)
  return {
    url,
    client,
    settings: { ...SETTINGS, appendfsync: FSYNC[kind] },
    cpuMs: () => processMs(server.pid),
    memoryMb: () => memoryMb([server.pid]),
    stop: async () => {
      client.disconnect()
      server.kill("SIGTERM")
      await exited
      process.off("exit", abandon)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
