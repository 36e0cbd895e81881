/** Random numbers from a seed: the same seed makes the same choices. */

/** mulberry32: 32 bits of state are plenty here, and neighbouring seeds give unlike numbers. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b)
  }

  /** From 0 to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<const T>(...items: readonly T[]): T {
    return items[this.int(0, items.length - 1)] as T
  }

  /** Picks by weight. */
  weighted<const T>(...items: readonly (readonly [weight: number, item: T])[]): T {
    let left = this.next() * items.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, item] of items) {
      left -= weight
      if (left < 0) return item
    }
    return items.at(-1)?.[1] as T
  }

  /** Picks a name by its weight. */
  name<const N extends string>(weights: Readonly<Record<N, number>>): N {
    const items = Object.entries<number>(weights).map(([name, weight]) => [weight, name] as const)
    return this.weighted(...items) as N
  }

  /** `count` times what `make` returns. */
  times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make)
  }

  /** A text of `min` to `max` of these characters. */
  text(characters: string, min: number, max = min): string {
    const all = [...characters]
    return this.times(this.int(min, max), () => all[this.int(0, all.length - 1)]).join('')
  }
}
