export function debianVersion(): Promise<string | undefined>
export function linkDebian(version: string): Promise<string>
