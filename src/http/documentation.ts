/** What documents the API: the document for programs, and its page for people. */
import { docsPolicy, renderDocs } from "./docs-page.ts"
import { type ApiDocument, createDocument } from "./openapi.ts"
import { packageVersion } from "./package-version.ts"
import type { Route } from "./route.ts"

export interface Documentation {
  readonly document: ApiDocument
  readonly page: string
  /** The content security policy of the page. */
  readonly policy: string
}

export async function createDocumentation(routes: readonly Route[]): Promise<Documentation> {
  const document = createDocument(routes, await packageVersion())
  return { document, page: renderDocs(document), policy: docsPolicy() }
}
