/**
 * Replaces undici's entry in the bundle. `@actions/github` imports `fetch` from it, only for
 * proxies, which `github/fetch.ts` handles.
 */

/** Never called: what no run needs is left out of the download. [house.bundle.small] */
export async function fetch(): Promise<never> {
  throw new Error('Octokit uses the fetch that it is given.')
}
