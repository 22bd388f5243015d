/** Rates in words: "50/s", "600/m", "1000/h". */

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 }

/** How many a second; `undefined` if the text is no rate. */
export function parseRate(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined
  const [, count = "", unit = ""] = /^(\d{1,6}) ?\/ ?(s|m|h)$/.exec(value) ?? []
  const perSecond = Number(count) / (SECONDS[unit] ?? 0)
  return perSecond > 0 && Number.isFinite(perSecond) ? perSecond : undefined
}
