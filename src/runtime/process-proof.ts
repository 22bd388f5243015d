/**
 * Which process this is, and whether another one is dead for certain.
 *
 * A pid alone says nothing: it counts within one namespace of one boot of one machine, and is given again. The proof takes
 * all of them into account, and when the process was started; what it cannot read, it does not know, and then nothing is
 * proven. Linux tells all of this; elsewhere a process has no mark.
 */

export interface ProcessProof {
  /** This process; absent where its host does not say enough about it. */
  readonly self: ProcessMark | undefined
  /** Whether a process of the same home has certainly ended. What is not known is not gone. */
  readonly isGone: (pid: number, born: string) => boolean
}

export interface ProcessMark {
  /** Where its pid counts: the host, its boot, and the namespace of pids, which a container has of its own. */
  readonly home: string
  /** When it was started, in ticks since the boot. */
  readonly born: string
}

export interface ProofParts {
  readonly platform: string
  readonly hostname: string
  readonly pid: number
  /** The text of a file; throws when it cannot be read. */
  readonly readText: (path: string) => string
  readonly readLink: (path: string) => string
  /** Whether the system says that there is no process of this number; not being allowed to ask is no such answer. */
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
    // Where /proc is that of another namespace, which `unshare --pid` alone leaves, numbers there are other processes.
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
      // It may be hidden from us, and only the system itself knows.
      if (status === undefined) return isUnknown(of)
      return status.born !== born || status.isOver
    },
  }
}

interface ProcessStatus {
  readonly born: string
  /** It has ended, and its parent has not asked how. */
  readonly isOver: boolean
}

/** The second field is the program's name in brackets and may hold anything, brackets too. */
function parseStatus(stat: string, pid: number): ProcessStatus | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, threads, born] = [fields[0], fields[17], fields[19]]
  if (born === undefined || !/^\d+$/.test(born) || Number.parseInt(stat, 10) !== pid) return undefined
  return { born, isOver: (state === "Z" || state === "X") && Number(threads) <= 1 }
}
