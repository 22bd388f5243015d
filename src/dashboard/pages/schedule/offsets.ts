/** The offset of a zone at an instant: `UTC+2`. */

export function offsetText(ms: number, zone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    timeZoneName: "shortOffset",
  }).formatToParts(ms)
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "UTC"
  return name.replace("GMT", "UTC")
}
