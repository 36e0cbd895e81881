/** Medians, how exact they are, and tables of them. */

/** The value below which this part of them lies, interpolated. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (sorted.length - 1) * Math.min(Math.max(part, 0), 1)
  const [below = 0, above = below] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at % 1)
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export interface Difference {
  /** The median of the differences in each round. */
  readonly median: number
  /**
   * Half the width of the median's 95 % confidence interval, which is read off the sorted
   * differences.
   */
  readonly noise: number
}

/** How much more one command takes than the other that ran beside it, in percent of the other. */
export function difference(one: readonly number[], other: readonly number[]): Difference {
  const percents = one.map((value, round) => (100 * (value - (other[round] ?? 0))) / median(other))
  const [low, high] = [-1, 1].map((side) =>
    quantile(percents, 0.5 + (side * 0.98) / Math.sqrt(one.length)),
  )
  return { median: median(percents), noise: ((high ?? 0) - (low ?? 0)) / 2 }
}

/** `−2.9 %` and `± 0.4 %`. */
export function percents({ median, noise }: Difference): [string, string] {
  const sign = median < 0 ? '−' : '+'
  return [`${sign}${Math.abs(median).toFixed(1)} %`, `± ${noise.toFixed(1)} %`]
}

/** A table that also reads well as plain text. */
export function table(header: string[], rows: string[][]): string {
  const all = [header, header.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]
  const widths = header.map((_, column) =>
    Math.max(...all.map((cells) => cells[column]?.length ?? 0)),
  )
  const pad = (text = '', column: number) =>
    text[column === 0 ? 'padEnd' : 'padStart'](widths[column] ?? 0)
  return all
    .map((cells) => `| ${header.map((_, column) => pad(cells[column], column)).join(' | ')} |`)
    .join('\n')
}
