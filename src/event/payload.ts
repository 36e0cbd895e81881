/** Reads values out of JSON from outside, a payload or a response, whatever it contains. Pure. */

/**
 * A path into a value, up to three names long. If the type of the value is known, one that it
 * doesn't have is refused; if it isn't, any text is one.
 */
export type PathOf<T, Rest extends unknown[] = [1, 1]> = unknown extends T
  ? string
  : T extends object
    ? {
        [Name in keyof T & string]-?:
          | Name
          | (Rest extends [1, ...infer Left] ? `${Name}.${PathOf<T[Name], Left>}` : never)
      }[keyof T & string]
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

type ItemOf<T, Name> = Name extends keyof T
  ? NonNullable<T[Name]> extends readonly (infer Item)[]
    ? Item
    : unknown
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
