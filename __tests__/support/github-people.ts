/** What the tests' GitHub says of releases, of tag objects, and of who may do what. */

import type { components } from '@octokit/openapi-types'
import { type Answer, type Call, type Endpoint, notFound, Refusal, slice } from './github-endpoints.js'

type Schemas = components['schemas']
export type Collaborator = Pick<Schemas['repository-collaborator-permission'], 'permission' | 'role_name'>
export type ReleaseState = Pick<Schemas['release'], 'tag_name' | 'draft' | 'prerelease' | 'published_at'>

const REPOSITORY = /^$/
const PERMISSION = /^\/collaborators\/([^/]+)\/permission$/
const RELEASES = /^\/releases$/
const TAG = /^\/git\/tags\/([^/]+)$/

export const PEOPLE_ENDPOINTS: readonly Endpoint[] = [
  ['GET', REPOSITORY, ['metadata', 'read'], getRepository],
  ['GET', PERMISSION, ['metadata', 'read'], getPermission],
  ['GET', RELEASES, ['contents', 'read'], listReleases],
  ['GET', TAG, ['contents', 'read'], getTag],
]

function getRepository({ repo: { full_name } }: Call): Answer {
  const body: Pick<Schemas['full-repository'], 'full_name'> = { full_name }
  return { body }
}

/** Of a public repository, everybody may read; a bot is no user. */
function getPermission({ repo, ids }: Call): Answer {
  const [login = ''] = ids
  const given = [...repo.collaborators].find(([name]) => name.toLowerCase() === login.toLowerCase())?.[1]
  if (given !== undefined) return { body: given }
  if (login.endsWith('[bot]')) throw new Refusal(404, `${login} is not a user`)
  const permission = repo.private ? 'none' : 'read'
  return { body: { permission, role_name: permission } }
}

/** The newest comes first. Drafts are among them for whoever may write. */
function listReleases({ repo, query }: Call): Answer {
  const { items, page } = slice([...repo.releases].reverse(), query)
  return { page, body: items }
}

function getTag({ repo, ids }: Call): Answer {
  const commit = repo.tagObjects.get(ids[0] ?? '')
  if (commit === undefined) throw notFound()
  return { body: { sha: ids[0], object: { sha: commit, type: 'commit' } } }
}
