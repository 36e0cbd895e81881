// `npm run pictures`: runs dist/ as a night of examples/schedule.yml, in real time, and draws its
// step summary and docs pull request as GitHub shows them, light and dark, into docs/images/. What
// the action writes is in summary.md there, for a test. Needs Debian's chromium, pngquant,
// fonts-noto-core, fonts-noto-mono and fonts-noto-color-emoji.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { marked } from 'marked'
import { pictured } from '../build/__tests__/support/pictured.js'
import { runAction } from '../emulator/runner.mjs'
import { GITHUB_TOKEN } from '../emulator/scenarios.mjs'
import { startEmulator } from '../emulator/server.mjs'

const BUNDLE = fileURLToPath(new URL('../dist/index.js', import.meta.url))
const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url))
const CHROMIUM = process.env.CHROMIUM ?? 'chromium'

/** @import { AddressInfo } from 'node:net' */

/** GitHub's colours for what is around a Markdown text. */
const THEMES = [
  {
    name: 'light',
    suffix: '',
    page: '#fff',
    border: '#d1d9e0',
    header: '#f6f8fa',
    muted: '#59636e',
    text: '#1f2328',
    added: '#1a7f37',
    removed: '#d1242f',
  },
  {
    name: 'dark',
    suffix: '-dark',
    page: '#0d1117',
    border: '#3d444d',
    header: '#151b23',
    muted: '#9198a1',
    text: '#f0f6fc',
    added: '#3fb950',
    removed: '#f85149',
  },
]

// Long enough to look like a job, short enough to wait for.
const JOB_SECONDS = 95

// Little more than a phone, so that the text is hardly scaled down there.
const WIDTH = 420
const SHARPNESS = 2

// In a lower window, Chromium draws only a part of the page.
const MIN_HEIGHT = 150

const REPOSITORY = 'your-org/your-repo'
const [LAST, HEAD] = ['1', '2'].map((digit) => digit.repeat(40))

/** What the runner says of a night. */
const NIGHT = {
  GITHUB_EVENT_NAME: 'schedule',
  GITHUB_REF: 'refs/heads/main',
  GITHUB_REPOSITORY: REPOSITORY,
  GITHUB_RUN_ID: '2',
  GITHUB_RUN_NUMBER: '2',
  GITHUB_SHA: HEAD ?? '',
  GITHUB_WORKFLOW_REF: `${REPOSITORY}/.github/workflows/docs.yml@refs/heads/main`,
}

/** What the agent writes. */
const PAGES = [
  { filename: 'guides/retry.mdx', status: 'added', additions: 24, deletions: 0, changes: 24 },
  { filename: 'reference/options.mdx', status: 'modified', additions: 6, deletions: 2, changes: 8 },
]

/** What GitHub answers in a night, by the end of the path. */
const ANSWERS = {
  runs: {
    total_count: 2,
    workflow_runs: [
      {
        ...{ id: 1, run_number: 1, event: 'schedule', status: 'completed', conclusion: 'success' },
        ...{ head_branch: 'main', head_sha: LAST, path: '.github/workflows/docs.yml' },
        ...{ head_repository: { full_name: REPOSITORY }, created_at: '2026-01-01T03:17:00Z' },
      },
    ],
  },
  [`${LAST}...${HEAD}`]: {
    ...{ status: 'ahead', ahead_by: 1, behind_by: 0, total_commits: 1 },
    merge_base_commit: { sha: LAST },
    commits: [{ sha: HEAD, commit: { message: 'Add --retry' }, parents: [{ sha: LAST }] }],
    files: [
      {
        ...{ filename: 'src/cli.js', status: 'modified', additions: 1, deletions: 0, changes: 1 },
        patch: '@@ -3,1 +3,2 @@\n const options = {\n+  retry: 3,',
      },
    ],
  },
  17: { state: 'open', merged: false, base: { ref: 'main', repo: { private: false } } },
  files: PAGES,
}

async function startGitHub() {
  const server = createServer(({ url = '' }, response) => {
    const [, end = ''] = /([^/?]+)(?:\?.*)?$/.exec(url) ?? []
    const answer = ANSWERS[/** @type {keyof typeof ANSWERS} */ (end)]
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { message: 'Not Found' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** The summary of a night, with nothing of the emulator in it. */
async function run() {
  const service = await startEmulator({ jobSeconds: JOB_SECONDS })
  const github = await startGitHub()
  const { port } = /** @type {AddressInfo} */ (github.address())
  try {
    const { summary, outputs, stdout } = await runAction({
      bundle: BUNDLE,
      event: { repository: { full_name: REPOSITORY } },
      env: { ...NIGHT, GITHUB_API_URL: `http://127.0.0.1:${port}` },
      inputs: {
        prompt: 'Bring the docs in line with these changes.',
        'project-id': 'your-project',
        'api-key': 'mint_emulated_key',
        'base-url': service.url,
        'github-token': GITHUB_TOKEN,
        context: 'diff',
        'context-paths': 'src/**',
      },
    })
    if (outputs.outcome !== 'pr-opened') throw new Error(`The run ended so:\n${stdout}`)
    return summary
      .replaceAll(service.url, 'https://api.mintlify.com')
      .replaceAll(outputs['job-id'] ?? '', '7c0d2f6e-51a4-4c1e-9a55-0d6f1d1f3b9a')
  } finally {
    github.close()
    await service.close()
  }
}

/**
 * @typedef {Readonly<{ title: string, body: string }>} Box a box with a title, both HTML
 *
 * @param {readonly Box[]} boxes
 * @param {typeof THEMES[number]} theme
 */
const page = (boxes, { name, page, border, header, muted, text }) => `<!doctype html>
<meta charset="utf-8">
<style>
  ${readFileSync(createRequire(import.meta.url).resolve(`github-markdown-css/github-markdown-${name}.css`), 'utf8')}
  body { margin: 0; background: ${page} }
  main { box-sizing: border-box; width: ${WIDTH}px; min-height: ${MIN_HEIGHT}px; padding: 1px }
  section + section { margin-top: 16px }
  section { border: 1px solid ${border}; border-radius: 6px; overflow: hidden }
  header.markdown-body { padding: 9px 16px; background: ${header}; border-bottom: 1px solid ${border}; color: ${muted}; font-size: 14px }
  header b { color: ${text} }
  header span { border: 1px solid ${border}; border-radius: 2em; padding: 0 6px; font-size: 12px }
  div.markdown-body { padding: 16px; font-size: 14px }
</style>
<main>${boxes
  .map(
    ({ title, body }) => `<section>
  <header class="markdown-body">${title}</header>
  <div class="markdown-body">${body}</div>
</section>`,
  )
  .join('')}</main>
<script>
  document.documentElement.dataset.height = Math.ceil(document.querySelector('main').getBoundingClientRect().height)
</script>`

/**
 * @param {string} name of the picture
 * @param {string} html
 */
function draw(name, html) {
  const folder = mkdtempSync(path.join(tmpdir(), 'pictures-'))
  try {
    const file = path.join(folder, 'page.html')
    writeFileSync(file, html)
    const chromium = (/** @type {number} */ height, /** @type {string} */ ...task) =>
      execFileSync(
        CHROMIUM,
        [
          // Root, as in a container, has no sandbox; the page is this script's own.
          ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
          ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
          ...['--hide-scrollbars', `--force-device-scale-factor=${SHARPNESS}`],
          ...[
            `--user-data-dir=${path.join(folder, 'profile')}`,
            `--window-size=${WIDTH},${height}`,
          ],
          ...task,
          pathToFileURL(file).href,
        ],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
      )
    const [, height] = /data-height="(\d+)"/.exec(chromium(1000, '--dump-dom')) ?? []
    if (!height) throw new Error(`${CHROMIUM} did not lay out ${name}`)
    mkdirSync(FOLDER, { recursive: true })
    const picture = path.join(FOLDER, name)
    chromium(Number(height), `--screenshot=${picture}`)
    execFileSync('pngquant', [
      '--force',
      '--strip',
      '--speed=1',
      '--output',
      picture,
      '64',
      picture,
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

// Fails now rather than after the run.
for (const tool of [CHROMIUM, 'pngquant']) execFileSync(tool, ['--version'])
const summary = await run()
writeFileSync(path.join(FOLDER, 'summary.md'), pictured(summary))
/**
 * As GitHub shows what the agent has opened.
 *
 * @param {typeof THEMES[number]} theme
 */
const docsPull = ({ added, removed }) => ({
  title: '<b>your-org/docs#17</b> <span>Open</span> by mintlify[bot]',
  body: `<h3>Document --retry</h3>${PAGES.map(
    ({ filename, additions, deletions }) =>
      `<p><code>${filename}</code> <b style="color: ${added}">+${additions}</b> <b style="color: ${removed}">−${deletions}</b></p>`,
  ).join('')}`,
})
for (const theme of THEMES) {
  const box = { title: '<b>ask summary</b>', body: `${marked(summary)}` }
  draw(`summary${theme.suffix}.png`, page([box, docsPull(theme)], theme))
}
