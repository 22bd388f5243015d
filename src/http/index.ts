/** The public API of `carillon/http`. */

export { createHttp, type Http } from "./create-http.ts"
export type { HttpOptions } from "./options.ts"
export type { RequestInfo } from "./request-info.ts"
