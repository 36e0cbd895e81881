/** Lengths of time and numbers, in words. */

/** `850 ms`, `4 s`, `3 min 20 s`, `2 h 5 min`: what has passed in full. */
export function duration(milliseconds: number): string {
  if (!(milliseconds < 3.6e9)) return 'over 1,000 h'
  if (milliseconds < 1000) return `${Math.floor(milliseconds)} ms`
  const seconds = Math.floor(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return parts([minutes, 'min'], [seconds % 60, 's'])
  return parts([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min'])
}

function parts(...amounts: [number, string][]): string {
  return amounts
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}
/** A whole number with its thousands apart, `1,048,576`: without Node's locale data, which takes 15 ms to load. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',')
}
