/** Numbers as a reader says them. */

/** A whole number with its thousands apart, `1,048,576`: without Node's locale data, which takes 15 ms to load. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',')
}
