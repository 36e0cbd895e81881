// `npm run pictures`: runs dist/ on a pull request of the emulator, in real time, and draws its
// step summary and its comment as GitHub shows them, light and dark, into docs/images/. What they
// say is in texts.md there, for a test. Needs Debian's chromium, pngquant, fonts-noto-core,
// fonts-noto-mono and fonts-noto-color-emoji.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { marked } from 'marked'
import { pictured } from '../build/__tests__/support/pictured.js'
import { startPullRequest } from '../emulator/pull-request.mjs'
import { runAction } from '../emulator/runner.mjs'
import { GITHUB_TOKEN } from '../emulator/scenarios.mjs'
import { startEmulator } from '../emulator/server.mjs'

const BUNDLE = fileURLToPath(new URL('../dist/index.js', import.meta.url))
const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url))
const CHROMIUM = process.env.CHROMIUM ?? 'chromium'

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
  },
  {
    name: 'dark',
    suffix: '-dark',
    page: '#0d1117',
    border: '#3d444d',
    header: '#151b23',
    muted: '#9198a1',
    text: '#f0f6fc',
  },
]

// Long enough to look like a job, short enough to wait for.
const JOB_SECONDS = 95

// Little more than a phone, so that the text is hardly scaled down there.
const WIDTH = 420
const SHARPNESS = 2

// In a lower window, Chromium draws only a part of the page.
const MIN_HEIGHT = 150

/**
 * One run on a pull request: what the runner and GitHub were given, with nothing of the emulator in
 * it.
 */
async function run() {
  const service = await startEmulator({ jobSeconds: JOB_SECONDS })
  let comment = ''
  const github = await startPullRequest(['opened'], ({ body }) => {
    comment = body
  })
  try {
    const [{ event, env } = {}] = github.runs
    const { summary, outputs } = await runAction({
      bundle: BUNDLE,
      event,
      env: { ...env, GITHUB_RUN_ID: '1234567890' },
      inputs: {
        prompt: 'Bring the docs in line with this pull request.',
        'project-id': 'your-project',
        'api-key': 'mint_emulated_key',
        'base-url': service.url,
        'job-scope': 'pull-request',
        'github-token': GITHUB_TOKEN,
      },
    })
    if (outputs.outcome !== 'pr-opened')
      throw new Error(`The run ended with ${JSON.stringify(outputs)}`)
    const asAtTheService = (/** @type {string} */ text) =>
      text
        .replaceAll(service.url, 'https://api.mintlify.com')
        .replaceAll(outputs['job-id'] ?? '', '7c0d2f6e-51a4-4c1e-9a55-0d6f1d1f3b9a')
    return { summary: asAtTheService(summary), comment: asAtTheService(comment) }
  } finally {
    await Promise.all([service.close(), github.close()])
  }
}

/**
 * @param {string} title HTML, above the text
 * @param {string} markdown
 * @param {typeof THEMES[number]} theme
 */
const page = (title, markdown, { name, page, border, header, muted, text }) => `<!doctype html>
<meta charset="utf-8">
<style>
  ${readFileSync(createRequire(import.meta.url).resolve(`github-markdown-css/github-markdown-${name}.css`), 'utf8')}
  body { margin: 0; background: ${page} }
  main { box-sizing: border-box; width: ${WIDTH}px; min-height: ${MIN_HEIGHT}px; padding: 1px }
  section { border: 1px solid ${border}; border-radius: 6px; overflow: hidden }
  header.markdown-body { padding: 9px 16px; background: ${header}; border-bottom: 1px solid ${border}; color: ${muted}; font-size: 14px }
  header b { color: ${text} }
  header span { border: 1px solid ${border}; border-radius: 2em; padding: 0 6px; font-size: 12px }
  div.markdown-body { padding: 16px; font-size: 14px }
</style>
<main><section>
  <header class="markdown-body">${title}</header>
  <div class="markdown-body">${marked(markdown)}</div>
</section></main>
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
const { summary, comment } = await run()
writeFileSync(path.join(FOLDER, 'texts.md'), pictured(summary, comment))
for (const theme of THEMES) {
  draw(`summary${theme.suffix}.png`, page('<b>ask summary</b>', summary, theme))
  draw(
    `comment${theme.suffix}.png`,
    page('<b>github-actions</b> <span>bot</span> commented', comment, theme),
  )
}
