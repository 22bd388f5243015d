/**
 * The address of the server of a data folder: a private socket, or a port of this machine with a password where no
 * socket can be made.
 *
 * It is chosen once and stored in endpoint.json, which only its owner can read and write. A process that starts later
 * may have another temporary folder, and must still find the same server.
 */
import { lstat, readFile, rename, stat, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:net"
import { join } from "node:path"
import { CarillonError } from "../../errors.ts"
import type { Host } from "../../runtime/host.ts"
import type { DataFolder } from "./data-folder.ts"
import { absentOn } from "./failure.ts"
import { pipeFolder } from "./guard.ts"
import { DATABASE, SOCKET_PORT, USER } from "./settings.ts"
import { chooseSocketFolder, openSocketFolder } from "./socket-folder.ts"

export interface Endpoint {
  /** The folder of the socket, if there is one. */
  readonly socketDir: string
  readonly tcp?: { readonly port: number; readonly password: string }
}

export interface EndpointOptions {
  /** Uses a port although a socket could be made. For tests. */
  readonly wantsTcp?: boolean
  /** Other processes already have the address, so it must not change. */
  readonly isKnown: boolean
  /** Sets the password of the server's only user while the server does not run. */
  readonly setPassword: (password: string) => Promise<void>
}

/** The stored address; `undefined` before the first start. */
export async function readEndpoint(folder: string): Promise<Endpoint | undefined> {
  const file = endpointFile(folder)
  const found = await lstat(file).catch(absentOn("ENOENT"))
  // A file of another user is not trusted: it names a folder that Carillon will empty.
  if (!found?.isFile() || found.uid !== (await stat(folder)).uid) return undefined
  const text = await readFile(file, "utf8").catch(absentOn("ENOENT"))
  return text === undefined ? undefined : parseEndpoint(folder, text)
}

/**
 * Makes the stored address usable again, or chooses one. Only the holder of the start lock calls it, before the server
 * runs.
 */
export async function openEndpoint(
  host: Host,
  folder: DataFolder,
  options: EndpointOptions,
): Promise<Endpoint> {
  await openSocketFolder(host, folder, pipeFolder(folder.path))
  const known = await readEndpoint(folder.path)
  const endpoint = known && (await isUsable(known, options)) ? known : await choose(host, folder, options)
  await openSocketFolder(host, folder, endpoint.socketDir)
  if (endpoint !== known) await write(host, folder, endpoint)
  // Each time, because the cluster may be a new one in place of one that was moved away.
  if (endpoint.tcp) await options.setPassword(endpoint.tcp.password)
  return endpoint
}

async function isUsable({ tcp }: Endpoint, { isKnown }: EndpointOptions): Promise<boolean> {
  if (tcp === undefined || (await isFree(tcp.port))) return true
  if (!isKnown) return false
  throw new CarillonError(
    "EMBEDDED_FAILED",
    `Port ${tcp.port}, on which this process knows the embedded server, is taken by another program. It is tried ` +
      "again until that has ended.",
  )
}

/**
 * Connects psql, node-postgres and everything else that accepts PostgreSQL's URLs. Port and `sslmode` are explicit,
 * because PGPORT and PGSSLMODE would override them otherwise.
 */
export function urlOf({ socketDir, tcp }: Endpoint): string {
  if (tcp) return `postgres://${USER}:${tcp.password}@127.0.0.1:${tcp.port}/${DATABASE}?sslmode=disable`
  const host = encodeURIComponent(socketDir)
  return `postgres://${USER}@localhost:${SOCKET_PORT}/${DATABASE}?host=${host}&sslmode=disable`
}

/** For logs and screens, which get copied elsewhere, so it has no password. */
export function withoutPassword(url: string): string {
  return url.replace(/^(postgres:\/\/[^:@/]+):[^@/]*@/, "$1:***@")
}

async function choose(host: Host, folder: DataFolder, { wantsTcp }: EndpointOptions): Promise<Endpoint> {
  const socketDir = wantsTcp ? undefined : await chooseSocketFolder(host, folder)
  if (socketDir !== undefined) return { socketDir }
  const port = await freePort()
  return { socketDir: pipeFolder(folder.path), tcp: { port, password: newPassword(host) } }
}

/** 192 bits. */
function newPassword(host: Host): string {
  const parts = [host.randomBits(), host.randomBits(), host.randomBits()]
  return parts.map((bits) => BigInt.asUintN(64, bits).toString(16).padStart(16, "0")).join("")
}

/** Writes all of it or nothing, and other users can never read it. */
async function write(host: Host, folder: DataFolder, endpoint: Endpoint): Promise<void> {
  const draft = `${endpointFile(folder.path)}.new-${host.newId()}`
  const { socketDir, tcp } = endpoint
  const elsewhere = socketDir === pipeFolder(folder.path) ? undefined : { socketDir, folder: folder.path }
  await writeFile(draft, `${JSON.stringify({ elsewhere, tcp })}\n`, { flag: "wx", mode: 0o600 })
  await rename(draft, endpointFile(folder.path))
}

function endpointFile(folder: string): string {
  return join(folder, "endpoint.json")
}

interface Written {
  /** A folder among temporary files belongs to one data folder, and not to a copy of it. */
  readonly elsewhere?: { readonly socketDir: string; readonly folder: string }
  readonly tcp?: { readonly port: number; readonly password: string }
}

/** `undefined` if the data folder was moved or the file was changed. Then an address is chosen anew. */
function parseEndpoint(folder: string, json: string): Endpoint | undefined {
  try {
    const { elsewhere, tcp } = JSON.parse(json) as Written
    if (elsewhere && elsewhere.folder !== folder) return undefined
    const socketDir = elsewhere?.socketDir ?? pipeFolder(folder)
    if (tcp === undefined) return { socketDir }
    const { port, password } = tcp
    return { socketDir, tcp: { port: Number(port), password: String(password) } }
  } catch {
    return undefined
  }
}

async function freePort(): Promise<number> {
  const server = await listening(0)
  const address = server.address()
  await closed(server)
  return typeof address === "object" && address ? address.port : 0
}

async function isFree(port: number): Promise<boolean> {
  const server = await listening(port).catch(absentOn("EADDRINUSE", "EACCES"))
  if (server) await closed(server)
  return server !== undefined
}

function listening(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => resolve(server))
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
