/** The name of a route for generators of clients: its nouns, and what it does with them. */
import type { Route } from "./route.ts"

/** `GET /runs/{id}` is `runsGet`, `POST /dead-letters/{id}/replay` is `deadLettersReplay`. */
export function operationIdOf(route: Route, routes: readonly Route[]): string {
  const verb = verbOf(route)
  const id = camelCase([...wordsOf(route), ...(verb === undefined ? [] : [verb])])
  return actsOnMany(route, routes) ? `${id}Many` : id
}

/** A change whose path ends with a word has that word as its verb. */
function verbOf(route: Route): string | undefined {
  const { method, answers } = route
  if (method === "get") {
    const [answer] = Object.values(answers)
    return answer && "shape" in answer && "items" in (answer.shape as object) ? "list" : "get"
  }
  if (method !== "post") return method
  return wordsOf(route).length === 1 ? "create" : undefined
}

/** The words of the path without its parameters. */
function wordsOf({ path }: Route): string[] {
  return path.split("/").filter((part) => part !== "" && !part.startsWith("{"))
}

/** The same action is there for one thing, whose name is in the path. */
function actsOnMany(route: Route, routes: readonly Route[]): boolean {
  const words = wordsOf(route).join("/")
  return (
    route.method === "post" &&
    !route.path.includes("{") &&
    routes.some(
      (other) => other !== route && other.method === route.method && wordsOf(other).join("/") === words,
    )
  )
}

function camelCase(words: readonly string[]): string {
  const parts = words.flatMap((word) => word.split("-"))
  return parts.map((part, at) => (at === 0 ? part : part.charAt(0).toUpperCase() + part.slice(1))).join("")
}
