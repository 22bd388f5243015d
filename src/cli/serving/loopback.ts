/** Addresses that only this machine can reach. */

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "::1" || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** How a client on this machine reaches a server that listens on this address. */
export function urlOf(hostname: string, port: number, basePath: string): string {
  const reached = { "0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]" }[hostname] ?? hostname
  return `http://${reached}:${port}${basePath}/`
}
