/** Reads values out of JSON from outside, a payload or a response, whatever it contains. Pure. */

/**
 * A path into a value. If the type of the value is known, a path that it doesn't have doesn't
 * compile; if it isn't, any text is a path.
 */
type PathOf<T> = unknown extends T
  ? string
  : T extends object
    ? { [Name in keyof T & string]-?: Name | `${Name}.${PathOf<T[Name]>}` }[keyof T & string]
    : never

/** The value at a path; undefined also for null, which some servers send. [github.event] */
export function getPath<T>(value: T, path: PathOf<T>): unknown {
  const found = path.split('.').reduce<unknown>((here, name) => {
    const inside = typeof here === 'object' && here !== null && Object.hasOwn(here, name)
    return inside ? (here as Record<string, unknown>)[name] : undefined
  }, value)
  return found ?? undefined
}

export function getString<T>(value: T, path: PathOf<T>): string {
  const text = getPath(value, path)
  return typeof text === 'string' ? text : ''
}

type ItemOf<T, Name extends string> = T extends { [_ in Name]?: readonly (infer Item)[] }
  ? Item
  : unknown

export function getArray<T, Path extends PathOf<T>>(
  value: T,
  path: Path,
): readonly ItemOf<T, Path>[] {
  const list = getPath(value, path)
  return Array.isArray(list) ? list : []
}

/** A commit at a path, SHA-1 or SHA-256: no other text passes for one. [github.event] */
export function getSha<T>(value: T, path: PathOf<T>): string {
  const text = getString(value, path)
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : ''
}
