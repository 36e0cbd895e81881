/** Reads values out of JSON from outside, a payload or a response, whatever it contains. Pure. */

/** The value at a path; undefined also for null, which some servers send. [github.event] */
export function getPath(value: unknown, path: string): unknown {
  const found = path.split('.').reduce<unknown>((here, name) => {
    const inside = typeof here === 'object' && here !== null && Object.hasOwn(here, name)
    return inside ? (here as Record<string, unknown>)[name] : undefined
  }, value)
  return found ?? undefined
}

export function getString(value: unknown, path: string): string {
  const text = getPath(value, path)
  return typeof text === 'string' ? text : ''
}

export function getArray(value: unknown, path: string): readonly unknown[] {
  const list = getPath(value, path)
  return Array.isArray(list) ? list : []
}

/** A commit at a path, SHA-1 or SHA-256: no other text passes for one. [github.event] */
export function getSha(value: unknown, path: string): string {
  const text = getString(value, path)
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : ''
}
