/** What GitHub's endpoints return, as Octokit describes it: an answer may lack any of it. */

import type { GitHub } from './client.js'

type DataOf<Endpoint> = Endpoint extends (...params: never[]) => Promise<{ data: infer Data }>
  ? Data
  : never

export type ApiComparison = DataOf<GitHub['repos']['compareCommitsWithBasehead']>
export type ApiFile = DataOf<GitHub['pulls']['listFiles']>[number]
/** It was asked for, or is one of a list, which says less. */
export type ApiPull =
  | DataOf<GitHub['pulls']['get']>
  | DataOf<GitHub['repos']['listPullRequestsAssociatedWithCommit']>[number]
export type ApiRelease = DataOf<GitHub['repos']['listReleases']>[number]
export type ApiRun = DataOf<GitHub['actions']['listWorkflowRuns']>['workflow_runs'][number]
