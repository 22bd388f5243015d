/**
 * The part of a process in the server of a data folder. It takes a share in a running server, or starts one. The last
 * process to leave waits until the server has ended.
 */
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import type { DataFolder } from "./data-folder.ts"
import { readEndpoint } from "./endpoint.ts"
import { findShare, type Share } from "./guard.ts"
import { readPidFile } from "./leftover.ts"
import { enterOwner, forgetDeadOwners, listOwners } from "./owners.ts"
import { servesCluster } from "./processes.ts"
import { isListening } from "./reach.ts"
import { takeStartLock } from "./start-lock.ts"

export interface Membership {
  /** Resolves when the server has ended or lost its guard. */
  readonly ended: Promise<void>
  /** Releases the share. Never fails. */
  readonly release: () => Promise<void>
  /** Releases the share, and if it was the last one, waits for the end of the server. */
  readonly leave: () => Promise<void>
}

export interface Admission {
  readonly folder: DataFolder
  /** Starts the server. Only the holder of the start lock calls it. */
  readonly start: (signal: AbortSignal) => Promise<Running>
  /** Ends a server without a guard. Only the holder of the start lock calls it. */
  readonly endLeftover: () => Promise<void>
}

/** A server that accepts connections, and our share in it. */
export interface Running {
  readonly share: Share
  /** Known only to the process that started it. */
  readonly ended?: Promise<void>
}

const REST_MS = 10
/** How often a process checks that the server has its guard and still listens. */
const GUARD_WATCH_MS = 100
const LISTEN_WATCH_MS = 2_000
/** Another process may take this long to make a cluster, start a server and recover. */
const START_WITHIN_MS = 600_000
/** A ready server listens, wherever this process can see its address. */
const SEEN_WITHIN_MS = 10_000
const UNSEEN_REST_MS = 200
/** The guard needs at most ten seconds. It knows at once that the last share is gone. */
const END_WITHIN_MS = 15_000
const OTHERS_AFTER_MS = 2_000

/** Resolves once the server accepts connections. */
export async function join(host: Host, admission: Admission, signal: AbortSignal): Promise<Membership> {
  const { folder } = admission
  const untilMs = host.monotonicMs() + START_WITHIN_MS
  let unseenAtMs: number | undefined
  while (!signal.aborted) {
    const found = await lookAtRunning(host, folder)
    if (typeof found === "object") return become(host, admission, { share: found })
    unseenAtMs = found === "unseen" ? (unseenAtMs ?? host.monotonicMs()) : undefined
    const nowMs = host.monotonicMs()
    if (unseenAtMs !== undefined && nowMs > unseenAtMs + SEEN_WITHIN_MS) throw outOfSight(folder)
    const started = found === "none" ? await startAlone(host, admission, signal) : undefined
    if (started) return become(host, admission, started)
    if (nowMs > untilMs) throw waitedTooLong(folder)
    // Long enough for the guard to notice that no process has a share; a process that looks for a server has none.
    await host.sleep(found === "unseen" ? UNSEEN_REST_MS * (0.5 + host.random()) : REST_MS, signal)
  }
  throw new CarillonError(
    "EMBEDDED_FAILED",
    `The start in ${folder.path} was given up: this process is stopping.`,
  )
}

/** `undefined` if another process starts the server or has just started it. */
async function startAlone(
  host: Host,
  { folder, start }: Admission,
  signal: AbortSignal,
): Promise<Running | undefined> {
  const lock = await takeStartLock(host, folder.path)
  if (!lock) return undefined
  try {
    // Another process may have started it between the first look and the lock.
    const running = await findShare(folder.path)
    running?.release()
    return running ? undefined : await start(signal)
  } finally {
    lock.release()
  }
}

/**
 * A share in the running server, if it accepts connections. Otherwise: the server is starting, it claims to be ready
 * and does not listen, or there is none.
 */
async function lookAtRunning(
  host: Host,
  folder: DataFolder,
): Promise<Share | "starting" | "unseen" | "none"> {
  const share = await findShare(folder.path)
  if (!share) return "none"
  let isTaken = false
  try {
    const file = await readPidFile(folder.cluster)
    if (file?.status !== "ready") return "starting"
    // The file may belong to the previous server. Only a connection tells whether this one is there.
    isTaken = (await isSeen(host, folder)) && share.isGuarded()
    return isTaken ? share : "unseen"
  } finally {
    if (!isTaken) share.release()
  }
}

async function isSeen(host: Host, { path }: DataFolder): Promise<boolean> {
  const endpoint = await readEndpoint(path)
  return endpoint !== undefined && isListening(host, endpoint)
}

async function become(host: Host, admission: Admission, { share, ended }: Running): Promise<Membership> {
  const { folder } = admission
  // The file is only for people who ask. A full disk must not stop the process because of it.
  await forgetDeadOwners(host, folder.path).catch(() => {})
  const entry = await enterOwner(host, folder.path).catch(() => undefined)
  const watch = watchServer(host, folder, share)
  const release = async () => {
    watch.stop()
    share.release()
    await entry?.remove().catch(() => {})
  }
  return {
    ended: Promise.race([ended ?? watch.ended, watch.ended]),
    release,
    leave: async () => {
      const server = await readPidFile(folder.cluster).catch(() => undefined)
      const isGuarded = share.isGuarded()
      await release()
      if (isGuarded) await untilEnded(host, folder, { share, pid: server?.pid })
      else await endUnguarded(host, admission)
    },
  }
}

/** Checks the pipe, and sometimes the address: half of the guard may have been killed together with the server. */
function watchServer(
  host: Host,
  folder: DataFolder,
  share: Share,
): { readonly ended: Promise<void>; readonly stop: () => void } {
  let stop = () => {}
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      stop()
      resolve()
    }
    const guardWatch = host.every(GUARD_WATCH_MS, () => {
      if (!share.isGuarded()) end()
    })
    const listenWatch = host.every(LISTEN_WATCH_MS, () => {
      void isSeen(host, folder).then(
        (isThere) => isThere || end(),
        () => {},
      )
    })
    stop = () => {
      guardWatch.cancel()
      listenWatch.cancel()
    }
  })
  return { ended, stop }
}

/** Waits until the server has ended and its guard has noticed, or until another owner turns up. */
async function untilEnded(
  host: Host,
  folder: DataFolder,
  { share, pid }: { readonly share: Share; readonly pid: number | undefined },
): Promise<void> {
  const beganMs = host.monotonicMs()
  const isRunning = async () => pid !== undefined && (await servesCluster(host, pid, folder.cluster))
  while (share.isPending() || (await isRunning())) {
    const waitedMs = host.monotonicMs() - beganMs
    // Owners in other containers are not on the list, but they hold the pipe.
    if (share.isGuarded() && (waitedMs > OTHERS_AFTER_MS || (await hasOwners(host, folder)))) return
    if (waitedMs > END_WITHIN_MS) return
    await host.sleep(REST_MS)
  }
}

async function hasOwners(host: Host, { path }: DataFolder): Promise<boolean> {
  return (await listOwners(host, path)).length > 0
}

/** The guard was killed, so no other process will end the server. */
async function endUnguarded(host: Host, { folder, endLeftover }: Admission): Promise<void> {
  const lock = await takeStartLock(host, folder.path)
  // The holder of the lock is about to start the server, and ends this one first.
  if (!lock) return
  try {
    const share = await findShare(folder.path)
    share?.release()
    if (!share && !(await hasOwners(host, folder))) await endLeftover()
  } finally {
    lock.release()
  }
}

function waitedTooLong({ path }: DataFolder): CarillonError {
  return new CarillonError(
    "EMBEDDED_FAILED",
    `Another process has been starting the server of ${path} for ten minutes. End it, and start again.`,
  )
}

function outOfSight({ path, log }: DataFolder): CarillonError {
  return new CarillonError(
    "EMBEDDED_FAILED",
    `A server of ${path} is running, but it cannot be reached from here: it may be in another container, with a ` +
      "temporary folder or a network of its own. Choose a `dataDir` with a short path, so that the socket is beside " +
      `the data, and see ${log}.`,
  )
}
