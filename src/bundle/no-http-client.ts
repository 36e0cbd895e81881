/**
 * Replaces `@actions/http-client` in the bundle. `@actions/github` uses it only for proxies, which
 * `github/fetch.ts` handles.
 */

// [house.bundle.small] [net.cheap]
export class HttpClient {
  /** No agent: Octokit then uses the fetch that it is given. */
  getAgent(): undefined {
    return undefined
  }

  getAgentDispatcher(): undefined {
    return undefined
  }
}
