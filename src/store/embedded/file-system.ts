/**
 * Refuses data folders on network file systems.
 *
 * There another machine could start a second server on the same data. Neither the guard's pipe nor PostgreSQL's own
 * lock reaches across machines, and an acknowledged write may still be lost.
 */
import { CarillonError } from "../../errors.ts"

/** Linux's numbers for them (statfs). */
const NETWORKED: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB 2"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x19830326, "BeeGFS"],
  [0x7461636f, "OCFS2"],
  [0x01161970, "GFS2"],
])

/** `type` is what `statfs` returns. Other systems number file systems anew at each boot, so there it tells nothing. */
export function refuseNetworked(folder: string, type: number, platform: string): void {
  const name = platform === "linux" ? NETWORKED.get(type >>> 0) : undefined
  if (name === undefined) return
  throw new CarillonError(
    "EMBEDDED_FAILED",
    `The data folder ${folder} is on a network file system (${name}), where another machine could start a second ` +
      "server on the same data. Choose a `dataDir` on a disk of this machine, or let machines share a server: " +
      '`database: "postgres://..."`.',
  )
}
