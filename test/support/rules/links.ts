/** Links between the pages of the documentation: each leads to a file and a heading that exist. */
import { posix } from "node:path"
import type { Source } from "../sources.ts"

const INLINE = /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g
const DEFINITION = /^\[[^\]]+\]:\s*<?(\S+?)>?\s*$/gm
const FENCE = /^(```|~~~)[\s\S]*?^\1/gm
const CODE_SPAN = /`[^`\n]*`/g
const ELSEWHERE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

export function brokenLinks(pages: readonly Source[], exists: (path: string) => boolean): string[] {
  const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]))
  return pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => {
        const [file = "", anchor = ""] = link.split("#")
        const path = file === "" ? page.path : posix.join(posix.dirname(page.path), decodeURI(file))
        if (!exists(path)) return true
        return anchor !== "" && path.endsWith(".md") && !anchors.get(path)?.has(decodeURI(anchor))
      })
      .map((link) => `${page.path} links to ${link}`),
  )
}

function linksOf({ text }: Source): string[] {
  // The text of a link may be code; its target never is.
  const prose = text.replace(FENCE, "").replace(CODE_SPAN, "code")
  return [...prose.matchAll(INLINE), ...prose.matchAll(DEFINITION)]
    .map(([, link = ""]) => link)
    .filter((link) => !ELSEWHERE.test(link))
}

/** The anchors that GitHub makes of headings: a second heading of the same words gets `-1`. */
function anchorsOf({ text }: Source): Set<string> {
  const prose = text.replace(FENCE, "")
  const anchors = new Set(Array.from(prose.matchAll(/<a (?:id|name)="([^"]+)"/g), ([, id = ""]) => id))
  for (const [, heading = ""] of prose.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = slugOf(heading)
    let free = slug
    for (let count = 1; anchors.has(free); count += 1) free = `${slug}-${count}`
    anchors.add(free)
  }
  return anchors
}

function slugOf(heading: string): string {
  const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "")
  return shown
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")
}

/** Paths like `test/support/sql.ts` or `test/support/rules/` that a page names as code, and that do not exist. */
export function missingPaths(pages: readonly Source[], exists: (path: string) => boolean): string[] {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:src|test|scripts|bench|docs)\/[\w./-]+)`/g)]
      .map(([, named = ""]) => named)
      .filter((named) => !exists(named))
      .map((named) => `${path} names ${named}, which does not exist`),
  )
}

/** Files that a page ought to name, as code, by themselves or by their folder, and does not. */
export function unnamedPaths({ path, text }: Source, paths: readonly string[]): string[] {
  return paths
    .filter((named) => {
      const folders = named.split("/").map((_, index, parts) => `${parts.slice(0, index).join("/")}/`)
      return ![named, ...folders].some((part) => text.includes(`\`${part}\``))
    })
    .map((named) => `${path} does not name ${named}`)
}
