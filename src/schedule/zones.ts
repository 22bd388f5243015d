/** A cache of time zones by name. */
import { CarillonError } from "../errors.ts"
import { nearest } from "../options/nearest.ts"
import { openZone, UTC, type Zone } from "../time/zone.ts"

/**
 * The size of the cache. Time zone data never changes while a process lives, so a cached zone is never stale. A zone
 * has at most 256 blocks of about 200 bytes, so the cache takes at most 3 MB.
 */
const MOST_ZONES = 64
const opened = new Map<string, Zone>()

/** The zone of this name. Throws `TIME_ZONE_UNKNOWN`. */
export function zoneNamed(name: string): Zone {
  const known = opened.get(name)
  if (known !== undefined) return known
  const zone = name === "UTC" ? UTC : isOffset(name) ? undefined : openZone(name)
  if (zone === undefined) throw unknownZone(name)
  if (opened.size >= MOST_ZONES) opened.clear()
  opened.set(name, zone)
  return zone
}

/** Whether a name is an abbreviation such as "EST". Such zones exist for old programs and may lack clock changes. */
export function isAbbreviation(name: string): boolean {
  return !name.includes("/") && !["UTC", "GMT"].includes(name.toUpperCase())
}

/** `Intl` accepts offsets such as `+02:00` as zones. Carillon does not, because they have no clock changes. */
function isOffset(name: string): boolean {
  return /^[+-]/.test(name)
}

function unknownZone(name: string): CarillonError {
  const meant = nearest(name, Intl.supportedValuesOf("timeZone"))
  const hint = meant ? `Did you mean "${meant}"?` : 'Use an IANA name such as "Europe/Oslo", or "UTC".'
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)
  return new CarillonError("TIME_ZONE_UNKNOWN", `Unknown time zone ${shown}. ${hint}`)
}
