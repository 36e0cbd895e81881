/**
 * Replaces `@actions/http-client` in the bundle. `@actions/github` uses it only for proxies, which
 * `github/fetch.ts` handles.
 */

export class HttpClient {
  /** No agent: Octokit then uses the fetch that it is given. */
  getAgent(): undefined {
    return undefined
  }

  getAgentDispatcher(): undefined {
    return undefined
  }
}
