/**
 * Identifies this process, and proves that another one is dead.
 *
 * A pid alone proves nothing: it counts within one namespace of one boot of one machine, and is used again. The proof
 * includes all of these and the start time of the process. If something cannot be read, nothing is proven. Linux
 * provides all of it. On other systems a process has no mark.
 */

export interface ProcessProof {
  /** Identifies this process. Absent if its host does not tell enough. */
  readonly self: ProcessMark | undefined
  /** Has a process with the same home certainly ended? False if that cannot be known. */
  readonly isGone: (pid: number, born: string) => boolean
}

export interface ProcessMark {
  /** Where the pid counts: the host, its boot, and the namespace of pids, which each container has of its own. */
  readonly home: string
  /** The start time, in ticks since the boot. */
  readonly born: string
}

export interface ProofParts {
  readonly platform: string
  readonly hostname: string
  readonly pid: number
  /** The text of a file. Throws if it cannot be read. */
  readonly readText: (path: string) => string
  readonly readLink: (path: string) => string
  /** Does the system say that no process has this pid? A refusal to answer is not a yes. */
  readonly isUnknown: (pid: number) => boolean
}

export function createProcessProof(parts: ProofParts): ProcessProof {
  const { platform, hostname, pid, readText, readLink, isUnknown } = parts

  function statusOf(of: number, at = String(of)): ProcessStatus | undefined {
    try {
      return parseStatus(readText(`/proc/${at}/stat`), of)
    } catch {
      return undefined
    }
  }

  function markOfThis(): ProcessMark | undefined {
    if (platform !== "linux") return undefined
    // If /proc belongs to another namespace, as after `unshare --pid` alone, its numbers are other processes.
    const status = statusOf(pid, "self")
    try {
      const boot = readText("/proc/sys/kernel/random/boot_id").trim()
      const namespace = readLink("/proc/self/ns/pid")
      if (status === undefined || boot === "" || namespace === "") return undefined
      return { home: `${hostname}/${boot}/${namespace}`, born: status.born }
    } catch {
      return undefined
    }
  }

  return {
    self: markOfThis(),
    isGone: (of, born) => {
      const status = statusOf(of)
      // The process may be hidden from us. Then only the kernel knows.
      if (status === undefined) return isUnknown(of)
      return status.born !== born || status.isOver
    },
  }
}

interface ProcessStatus {
  readonly born: string
  /** A zombie: it has ended, and its parent has not waited for it. */
  readonly isOver: boolean
}

/** The second field is the name of the program in brackets, and may itself contain brackets. */
function parseStatus(stat: string, pid: number): ProcessStatus | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, threads, born] = [fields[0], fields[17], fields[19]]
  if (born === undefined || !/^\d+$/.test(born) || Number.parseInt(stat, 10) !== pid) return undefined
  return { born, isOver: (state === "Z" || state === "X") && Number(threads) <= 1 }
}
