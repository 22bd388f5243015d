/** What to do about a failed start, by what the system or PostgreSQL's programs said. */

/** What PostgreSQL says about damaged data. */
const DAMAGED = new RegExp(
  [
    "PANIC",
    "could not locate a valid checkpoint",
    "invalid checkpoint",
    "invalid primary checkpoint",
    "incorrect checksum",
    "checksum verification failed",
    "control file",
    "pg_control",
    "not a valid data directory",
    "could not (open|read|access|find) (file|directory|status)",
    "invalid page",
    "unexpected pageaddr",
    "required by checkpoint",
    "required WAL directory",
  ].join("|"),
  "i",
)

/** The first match counts: a full disk also damages what was being written. */
const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /no space left on device|ENOSPC|disk quota exceeded|EDQUOT|check free disk space/i,
    "The disk is full. Free some space and start again; nothing that was committed is lost.",
  ],
  [
    /read-only file system|EROFS/i,
    "The file system is read-only. Mount it for writing, or choose another `dataDir`.",
  ],
  [
    /EPERM|operation not permitted/i,
    "This user may not change owners or users there. Run as an ordinary user, or choose another `dataDir`.",
  ],
  [
    /permission denied|EACCES|has wrong ownership|invalid permissions/i,
    "Check who owns the folder and what is in it, or choose another `dataDir`.",
  ],
  [
    /input\/output error|EIO\b/i,
    "The disk reports errors. Copy the folder away before anything else, and look at the system's log.",
  ],
  [
    /could not map anonymous shared memory|cannot allocate memory|ENOMEM/i,
    "There is too little memory for the server. Free some and start again.",
  ],
  [
    /lock file "postmaster\.pid" already exists|shared memory block .* is still in use/i,
    "Processes of an earlier server still use this folder. End them and start again.",
  ],
  [
    DAMAGED,
    "The data are damaged. Copy the whole folder away before anything else; then restore a backup or an export " +
      "(`carillon db import`), or begin anew with another `dataDir`. Do not delete files inside it.",
  ],
]

/** A sentence to append, with a space before it. Empty if the cause is unknown. */
export function adviceFor(said: string): string {
  const found = ADVICE.find(([pattern]) => pattern.test(said))
  return found ? ` ${found[1]}` : ""
}
