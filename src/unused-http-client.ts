/**
 * Stands in the bundle for `@actions/http-client`, which `@actions/core` needs only to fetch OIDC tokens: this action
 * fetches none, and without it a run loads no HTTP library before it has read its inputs. See `paths` in tsconfig.json.
 */

export class HttpClient {
  constructor() {
    throw new Error('The bundle has no OIDC client.')
  }
}
