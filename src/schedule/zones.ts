/** Zones by name, opened once each. */
import { CarillonError } from "../errors.ts"
import { nearest } from "../options/nearest.ts"
import { openZone, UTC, type Zone } from "../time/zone.ts"

/**
 * The zones that have been asked for. What a zone says never changes while a process lives, so this is a memory and
 * not a state. At most this many, each of at most 256 blocks of about 200 bytes: 3 MB if someone asks for them all.
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

/** Whether a name is an abbreviation: such zones exist for old programs, and mean less than people think. */
export function isAbbreviation(name: string): boolean {
  return !name.includes("/") && !["UTC", "GMT"].includes(name.toUpperCase())
}

/** The platform may know `+02:00`; as a zone it would have no rules. */
function isOffset(name: string): boolean {
  return /^[+-]/.test(name)
}

function unknownZone(name: string): CarillonError {
  const meant = nearest(name, Intl.supportedValuesOf("timeZone"))
  const hint = meant ? `Did you mean "${meant}"?` : 'Use an IANA name such as "Europe/Oslo", or "UTC".'
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)
  return new CarillonError("TIME_ZONE_UNKNOWN", `Unknown time zone ${shown}. ${hint}`)
}
