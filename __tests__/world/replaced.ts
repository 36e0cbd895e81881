/**
 * What stands in for functions of Node, for those who are in the world. Everybody else gets Node's
 * own.
 */

import { syncBuiltinESMExports } from 'node:module'

// biome-ignore lint/suspicious/noExplicitAny: any function at all
export type AnyFunction = (...parameters: any[]) => any

export class Replaced {
  readonly #applies: () => boolean
  readonly #before: (() => void)[] = []

  /** @param applies whether who calls is in the world */
  constructor(applies: () => boolean) {
    this.#applies = applies
  }

  replace(target: object, functions: Readonly<Record<string, AnyFunction>>): void {
    const applies = this.#applies
    for (const [name, simulated] of Object.entries(functions)) {
      this.wrap(
        target,
        name,
        (real) =>
          function (this: unknown, ...parameters: unknown[]): unknown {
            return (applies() ? simulated : real).apply(this, parameters)
          },
      )
    }
  }

  /** Replaces a function with one that is made from it. */
  wrap(target: object, name: string, wrap: (real: AnyFunction) => unknown): void {
    const before = Object.getOwnPropertyDescriptor(target, name)
    const value = wrap(Reflect.get(target, name))
    Object.defineProperty(target, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: true,
    })
    this.#before.push(() => {
      if (before === undefined) Reflect.deleteProperty(target, name)
      else Object.defineProperty(target, name, before)
    })
  }

  putBack(): void {
    for (const restore of this.#before.splice(0).reverse()) restore()
    syncBuiltinESMExports()
  }
}
