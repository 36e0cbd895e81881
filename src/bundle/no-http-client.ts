/**
 * Replaces `@actions/http-client` in the bundle. `@actions/core` uses it only to fetch OIDC tokens,
 * which this action never does, and `@actions/github` only for proxies, which `github/fetch.ts`
 * handles. Without it, a run loads no HTTP library before it has read its inputs.
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
