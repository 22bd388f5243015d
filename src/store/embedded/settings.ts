/** The settings of the embedded server, given on its command line so that no file in the cluster wins over them. */

/** The superuser and the database that every client uses. */
export const USER = "carillon"
export const DATABASE = "carillon"
/** No TCP port is opened: this is only a part of the socket's name. */
export const PORT = 5432

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "",
  port: String(PORT),
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

export function serverArguments(
  cluster: string,
  socketDir: string,
  overrides: Readonly<Record<string, string>>,
): string[] {
  const settings = { ...SETTINGS, unix_socket_directories: quoted(socketDir), ...overrides }
  return ["-D", cluster, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])]
}

/** The setting is a list, in which a comma or a space would end the name of a folder. */
function quoted(folder: string): string {
  return `"${folder.replaceAll('"', '""')}"`
}
