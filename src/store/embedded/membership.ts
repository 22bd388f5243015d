/**
 * A process's part in the server of a data folder: it takes a share in the one that runs, or starts one, and whoever
 * leaves last sees it end.
 */
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import type { DataFolder } from "./data-folder.ts"
import { readEndpoint } from "./endpoint.ts"
import { findShare, type Share } from "./guard.ts"
import { readPidFile } from "./leftover.ts"
import { enterOwner, forgetDeadOwners, listOwners } from "./owners.ts"
import { servesCluster } from "./processes.ts"
import { takeStartLock } from "./start-lock.ts"

export interface Membership {
  /** Resolves when the server has ended, or nobody guards it any more. */
  readonly ended: Promise<void>
  /** Gives the share back. */
  readonly release: () => Promise<void>
  /** The same, and waits for the end of the server if it was the last one. */
  readonly leave: () => Promise<void>
}

export interface Admission {
  readonly folder: DataFolder
  /** Starts the server; only called by the one process that may. */
  readonly start: (signal: AbortSignal) => Promise<Running>
  /** Ends a server that nobody guards; only called by the one process that may. */
  readonly endLeftover: () => Promise<void>
}

/** A server that accepts connections, and our share in it. */
export interface Running {
  readonly share: Share
  /** Known to the process that started it. */
  readonly ended?: Promise<void>
}

const REST_MS = 10
/** How often a process that did not start the server looks whether it is still there. */
const WATCH_MS = 100
/** As long as another process may take to make a cluster, start a server and recover. */
const START_WITHIN_MS = 600_000
/** The guard needs ten seconds at the most. */
const END_WITHIN_MS = 15_000

/** Resolves once the server accepts connections. */
export async function join(host: Host, admission: Admission, signal: AbortSignal): Promise<Membership> {
  const { folder, start } = admission
  const untilMs = host.monotonicMs() + START_WITHIN_MS
  for (;;) {
    const share = await shareInRunning(host, admission, signal)
    if (share) return become(host, admission, { share })
    const lock = await takeStartLock(host, folder.path)
    if (lock && "release" in lock) {
      try {
        // Between the first look and the lock, another process may have started it.
        const running = await findRunning(folder)
        running?.release()
        if (!running) return await become(host, admission, await start(signal))
      } finally {
        await lock.release()
      }
    } else if (signal.aborted || host.monotonicMs() > untilMs) {
      throw new CarillonError(
        "EMBEDDED_FAILED",
        `Process ${lock?.pid} has been starting the server of ${folder.path} for too long. End it and start again.`,
      )
    } else {
      await host.sleep(REST_MS, signal)
    }
  }
}

async function findRunning({ path }: DataFolder): Promise<Share | undefined> {
  const endpoint = await readEndpoint(path)
  return endpoint && findShare(endpoint.socketDir)
}

/** Waits until the server that runs accepts connections; `undefined` when none does, or not for long. */
async function shareInRunning(
  host: Host,
  { folder }: Admission,
  signal: AbortSignal,
): Promise<Share | undefined> {
  const share = await findRunning(folder)
  if (!share) return undefined
  while (share.isGuarded() && !signal.aborted) {
    const file = await readPidFile(folder.cluster)
    // Asked again: the guard may have made up its mind just before we had our share.
    if (file?.status === "ready" && share.isGuarded()) return share
    await host.sleep(REST_MS, signal)
  }
  share.release()
  return undefined
}

async function become(host: Host, admission: Admission, { share, ended }: Running): Promise<Membership> {
  const { folder } = admission
  await forgetDeadOwners(host, folder.path)
  const entry = await enterOwner(host, folder.path)
  const watch = watchShare(host, share)
  const release = async () => {
    watch.stop()
    await entry.remove()
    share.release()
  }
  return {
    ended: Promise.race([ended ?? watch.ended, watch.ended]),
    release,
    leave: async () => {
      const server = await readPidFile(folder.cluster)
      const isGuarded = share.isGuarded()
      await release()
      if ((await listOwners(host, folder.path)).length > 0) return
      if (isGuarded) await untilEnded(host, admission, { share, pid: server?.pid })
      else await endUnguarded(host, admission)
    },
  }
}

function watchShare(host: Host, share: Share): { readonly ended: Promise<void>; readonly stop: () => void } {
  let stop = () => {}
  const ended = new Promise<void>((resolve) => {
    const timer = host.every(WATCH_MS, () => {
      if (share.isGuarded()) return
      timer.cancel()
      resolve()
    })
    stop = timer.cancel
  })
  return { ended, stop }
}

/** Until the server has ended and its guard has seen that, or there is an owner again. */
async function untilEnded(
  host: Host,
  { folder }: Admission,
  { share, pid }: { readonly share: Share; readonly pid: number | undefined },
): Promise<void> {
  const untilMs = host.monotonicMs() + END_WITHIN_MS
  const isRunning = async () => pid !== undefined && (await servesCluster(host, pid, folder.cluster))
  while (host.monotonicMs() < untilMs && (share.isPending() || (await isRunning()))) {
    if ((await listOwners(host, folder.path)).length > 0) return
    await host.sleep(REST_MS)
  }
}

/** The guard was killed, so that nobody else will end the server. */
async function endUnguarded(host: Host, { folder, endLeftover }: Admission): Promise<void> {
  const lock = await takeStartLock(host, folder.path)
  // Whoever holds it is about to start the server, and ends this one first.
  if (!lock || !("release" in lock)) return
  try {
    await endLeftover()
  } finally {
    await lock.release()
  }
}
