/** "Copy as": the same request for a terminal, for curl, and for code. */
import { useDashboard } from "../app/dashboard.ts"
import { Menu } from "./menu.tsx"

export interface Tongues {
  /** What the command line takes after `carillon`. */
  readonly cli: string
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Below `/api/v1`. */
  readonly path: string
  readonly body?: unknown
  readonly code: string
}

export function useTongues(): (tongues: Tongues) => readonly (readonly [name: string, text: string])[] {
  const { api } = useDashboard()
  return (tongues) => [
    ["CLI", `carillon ${tongues.cli}`],
    ["curl", curlText(api.address(tongues.path), tongues)],
    ["TypeScript", tongues.code],
  ]
}

function curlText(address: string, { method = "GET", body }: Tongues): string {
  const how = method === "GET" ? "" : ` -X ${method}`
  const data =
    body === undefined
      ? ""
      : ` \\\n  -H 'Content-Type: application/json' \\\n  -d ${shellQuoted(JSON.stringify(body))}`
  return `curl${how} ${shellQuoted(address)} \\\n  -H "Authorization: Bearer $CARILLON_TOKEN"${data}`
}

/** One word for a shell, whatever is in it. */
export function shellQuoted(text: string): string {
  return /^[\w./:@=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

export function CopyAs({
  tongues,
  label = "Copy as",
}: {
  readonly tongues: Tongues
  readonly label?: string
}) {
  const { say } = useDashboard()
  const texts = useTongues()(tongues)
  return (
    <Menu
      label={label}
      text="CLI"
      icon="terminal"
      items={texts.map(([name, text]) => ({
        text: `Copy as ${name}`,
        icon: "copy" as const,
        onPress: () => {
          void copyText(text).then((copied) =>
            say(
              copied
                ? { tone: "fine", title: `Copied as ${name}.`, detail: text.split("\n")[0] ?? "" }
                : { tone: "problem", title: "The browser did not allow the copy.", detail: text },
            ),
          )
        },
      }))}
    />
  )
}

/** Over plain HTTP the clipboard is closed to pages; a selected text field still copies. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement("textarea")
    area.value = text
    area.className = "unseen"
    document.body.append(area)
    area.select()
    const copied = document.execCommand("copy")
    area.remove()
    return copied
  }
}
