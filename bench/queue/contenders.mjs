/** Who takes part. Each is loaded only where it is measured. */
const LOAD = {
  carillon: () => import("./contenders/carillon.mjs"),
  "graphile-worker": () => import("./contenders/graphile-worker.mjs"),
  "pg-boss": () => import("./contenders/pg-boss.mjs"),
}

export const NAMES = Object.keys(LOAD)
export const PEERS = NAMES.filter((name) => name !== "carillon")

export async function contenderOf(name) {
  const { contender } = await LOAD[name]()
  return contender
}
