/** Tables and charts in Markdown, and the page that holds them. */

/** Mermaid's own is hardly visible on white. */
const BAR_COLOUR = '#4e79a7'

/**
 * @param {string[]} header
 * @param {string[][]} rows
 * @returns {string} a table that also reads well as plain text
 */
export function table(header, rows) {
  const widths = header.map((_, column) =>
    Math.max(4, ...[header, ...rows].map((cells) => cells[column]?.length ?? 0)),
  )
  const line = (/** @type {string[]} */ cells) => {
    const padded = widths.map((width, column) => {
      const cell = cells[column] ?? ''
      return column === 0 ? cell.padEnd(width) : cell.padStart(width)
    })
    return `| ${padded.join(' | ')} |`
  }
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [header, rule, ...rows].map(line).join('\n')
}

/**
 * @param {string} title what the bars show
 * @param {[label: string, value: string][]} bars
 * @returns {string} a Mermaid chart with horizontal bars
 */
export function barChart(title, bars) {
  const longest = Math.max(...bars.map(([, value]) => Number(value)))
  const config = {
    xyChart: { height: 110 + 35 * bars.length },
    themeVariables: { xyChart: { plotColorPalette: BAR_COLOUR } },
  }
  return [
    '```mermaid',
    `%%{init: ${JSON.stringify(config)}}%%`,
    'xychart-beta horizontal',
    `  title "${title}"`,
    `  x-axis [${bars.map(([label]) => `"${label.replaceAll('`', '')}"`).join(', ')}]`,
    // Without a range the axis starts at the smallest value, whose bar then has no length.
    `  y-axis 0 --> ${Math.ceil(longest * 1.05)}`,
    `  bar [${bars.map(([, value]) => value).join(', ')}]`,
    '```',
  ].join('\n')
}

/** @param {string} markdown */
export const withoutCharts = (markdown) => markdown.replace(/```mermaid\n[\s\S]*?```\n*/g, '')

/**
 * Replaces everything between `<!-- bench:name -->` and `<!-- /bench:name -->`.
 * @param {string} page
 * @param {Record<string, string>} sections by name
 * @returns {string} the page with the new sections
 * @throws {Error} the page does not have a pair of markers for each section, and no other pair
 */
export function replaceSections(page, sections) {
  const pair = /(<!-- bench:(\w+) -->\n)[\s\S]*?(<!-- \/bench:\2 -->)/g
  const expected = Object.keys(sections).sort().join(', ')
  const found = Array.from(page.matchAll(pair), ([, , name]) => name)
    .sort()
    .join(', ')
  if (found !== expected) throw new Error(`The page's pairs of markers: expected ${expected}; got ${found}.`)
  return page.replace(pair, (_, start, name, end) => `${start}\n${sections[name]}\n\n${end}`)
}
