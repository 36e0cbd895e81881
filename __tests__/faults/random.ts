/** Random numbers from a seed: the same seed makes the same choices. */

export interface Random {
  /** From 0 to 1. */
  readonly next: () => number
  /** A whole number from `min` to `max`, both included. */
  readonly int: (min: number, max: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <T>(items: readonly T[]) => T
  /** Picks by weight. */
  readonly weighted: <T>(items: readonly (readonly [weight: number, item: T])[]) => T
  /** `count` times what `make` returns. */
  readonly times: <T>(count: number, make: () => T) => T[]
}

/** mulberry32: 32 bits of state are plenty here, and neighbouring seeds give unlike numbers. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  const pick = <T>(items: readonly T[]): T => items[int(0, items.length - 1)] as T
  const weighted = <T>(items: readonly (readonly [number, T])[]): T => {
    const total = items.reduce((sum, [weight]) => sum + weight, 0)
    let left = next() * total
    for (const [weight, item] of items) {
      left -= weight
      if (left < 0) return item
    }
    return (items.at(-1) as readonly [number, T])[1]
  }
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick,
    weighted,
    times: (count, make) => Array.from({ length: count }, make),
  }
}
