/** What went wrong with a request, in words for the person who looks at the page. */

export interface Problem {
  /** The HTTP status; 0 if no answer came. */
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly hint?: string
  readonly requestId?: string
  readonly errors?: readonly { readonly pointer?: string; readonly message: string }[]
}

export class RequestFailed extends Error {
  override readonly name = "RequestFailed"
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

/** No answer came: the server or the network is gone. */
export function isLost(problem: Problem): boolean {
  return problem.status === 0 || problem.status === 502 || problem.status === 504
}

export function problemOf(error: unknown): Problem {
  if (error instanceof RequestFailed) return error.problem
  return { status: 0, code: "NO_ANSWER", detail: "The server did not answer." }
}

/** Reads the body of a failed answer. */
export async function readProblem(response: Response): Promise<Problem> {
  const status = response.status
  const body: unknown = await response.json().catch(() => undefined)
  const { code, detail, title, hint, requestId, errors } = (body ?? {}) as Record<string, unknown>
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)
  const said = text(hint)
  const id = text(requestId)
  return {
    status,
    code: text(code) ?? `HTTP_${status}`,
    detail: text(detail) ?? text(title) ?? `The server answered ${status}.`,
    ...(said !== undefined && { hint: said }),
    ...(id !== undefined && { requestId: id }),
    ...(Array.isArray(errors) && { errors }),
  }
}
