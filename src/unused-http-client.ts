/**
 * Stands in the bundle for `@actions/http-client`: `@actions/core` needs it only to fetch OIDC tokens, which this action
 * does not, and `@actions/github` only for proxies, for which `github/client.ts` has a fetch of its own. Without it a
 * run loads no HTTP library before it has read its inputs. See `paths` in tsconfig.json.
 */

export class HttpClient {
  /** No agent: Octokit then takes the fetch that it is given. */
  getAgent(): undefined {
    return undefined
  }

  getAgentDispatcher(): undefined {
    return undefined
  }
}
