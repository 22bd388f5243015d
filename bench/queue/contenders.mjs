/** Who takes part. Each is loaded only where it is measured. */
import { peerVersion } from "../tools/peers.mjs"
import { redisVersion } from "../tools/redis.mjs"

const LOAD = {
  carillon: () => import("./contenders/carillon.mjs"),
  "carillon-default": () => import("./contenders/carillon-default.mjs"),
  "graphile-worker": () => import("./contenders/graphile-worker.mjs"),
  "pg-boss": () => import("./contenders/pg-boss.mjs"),
  "bullmq-redis": () => import("./contenders/bullmq-redis.mjs"),
  "bullmq-redis-always": () => import("./contenders/bullmq-redis-always.mjs"),
  "bullmq-postgres": () => import("./contenders/bullmq-postgres.mjs"),
  dbos: () => import("./contenders/dbos.mjs"),
}

export const NAMES = Object.keys(LOAD)

export async function contenderOf(name) {
  const { contender } = await LOAD[name]()
  return { name, ...contender }
}

/** The contenders that can be measured here, and why the others cannot: none is left out in silence. */
export async function gather(only = NAMES) {
  const present = []
  const missing = []
  for (const name of only) {
    let contender
    try {
      contender = await contenderOf(name)
      if (contender.package !== undefined) peerVersion(contender.package)
      if (contender.on !== "postgres" && redisVersion() === undefined) {
        throw new Error("redis-server is not installed, and could not be")
      }
      present.push(contender)
    } catch (error) {
      missing.push({ name, on: contender?.on, because: error.message })
      console.error(`MISSING: ${name} is not measured. ${error.message}`)
    }
  }
  return { present, missing }
}

/** The versions of the peers; Carillon's own stands with the machine. */
export function versionsOf(contenders) {
  const peers = contenders.filter(({ package: name }) => name !== undefined)
  const versions = Object.fromEntries(peers.map(({ package: name }) => [name, peerVersion(name)]))
  return contenders.some(({ on }) => on !== "postgres")
    ? { ...versions, ioredis: peerVersion("ioredis"), redis: redisVersion() }
    : versions
}
