/** The cursors of pages: where the next page begins, bound to what was asked. Callers must not read them. */
import { OptionsError } from "../../errors.ts"

/** `asked` is what the pages have in common. */
export function writeCursor(place: readonly string[], asked: readonly (string | null)[]): string {
  const bytes = new TextEncoder().encode(JSON.stringify([place, asked]))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
}

/** The place in a cursor of the same question. Everything else is refused. */
export function readCursor(
  call: string,
  cursor: string | undefined,
  { asked, isPlace }: { readonly asked: readonly (string | null)[]; readonly isPlace: PlaceCheck },
): readonly string[] | undefined {
  if (cursor === undefined) return undefined
  const [place, before] = partsOf(cursor)
  const isSame = JSON.stringify(before) === JSON.stringify(asked)
  if (isSame && Array.isArray(place) && place.every((part) => typeof part === "string") && isPlace(place)) {
    return place
  }
  throw new OptionsError(call, [
    { path: "cursor", message: "is not the cursor of an earlier page of the same question" },
  ])
}

export type PlaceCheck = (place: readonly string[]) => boolean

function partsOf(cursor: string): unknown[] {
  try {
    const text = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"))
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
    const parts: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
