/** The settings of the embedded server. They are on its command line, so that no file in the cluster overrides them. */

/** The superuser and the database that every client uses. */
export const USER = "carillon"
export const DATABASE = "carillon"
/** With a socket no port is opened. The number is only part of the socket's name. */
export const SOCKET_PORT = 5432

const SETTINGS: Readonly<Record<string, string>> = {
  unix_socket_permissions: "0700",
  fsync: "on",
  synchronous_commit: "on",
  timezone: "UTC",
  log_timezone: "UTC",
  shared_buffers: "128MB",
  max_connections: "100",
  logging_collector: "off",
  log_destination: "stderr",
  log_min_messages: "warning",
}

export interface Listening {
  readonly socketDir: string
  /** Instead of the socket: a port of this machine, and the file that requires a password for it. */
  readonly tcp?: { readonly port: number; readonly hbaFile: string }
}

export function serverArguments(
  cluster: string,
  { socketDir, tcp }: Listening,
  overrides: Readonly<Record<string, string>>,
): string[] {
  const where = tcp
    ? {
        listen_addresses: "127.0.0.1",
        port: String(tcp.port),
        unix_socket_directories: "",
        hba_file: tcp.hbaFile,
      }
    : { listen_addresses: "", port: String(SOCKET_PORT), unix_socket_directories: quoted(socketDir) }
  const settings = { ...SETTINGS, ...where, ...overrides }
  return ["-D", cluster, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])]
}

/** The setting is a list, so a comma or a space would end the name of a folder. */
function quoted(folder: string): string {
  return `"${folder.replaceAll('"', '""')}"`
}
