/** What the texts say of the service behind `base-url`; Mintlify's rules are Mintlify's alone. */

import { WHERE_TO_LOOK } from '../text/errors.js'

export const MINTLIFY_URL = 'https://api.mintlify.com'

export interface ServiceFacts {
  /** Where a docs job that may exist shows, as the end of a sentence that begins with "look". */
  readonly whereToLook: string
  readonly checkKey: string
  readonly checkAccess: (mayWrite: boolean) => string
  /** The limit that the service documents, as a sentence; or empty. */
  readonly limit: string
  readonly proxyVariable: string
}

const OF_ANY_SERVICE: ServiceFacts = {
  whereToLook: WHERE_TO_LOOK,
  checkKey: "Check that api-key is the right key and hasn't expired.",
  checkAccess: (mayWrite) =>
    `Check that the key is for this project${mayWrite ? ', may do more than read,' : ''} and may be used from the runner's IP address.`,
  limit: '',
  proxyVariable: 'HTTPS_PROXY',
}

/** From its pages on the Agent API, API keys and usage. */
const OF_MINTLIFY: ServiceFacts = {
  ...OF_ANY_SERVICE,
  whereToLook: `${WHERE_TO_LOOK}, and in the activity log of its Usage page`,
  checkKey: `${OF_ANY_SERVICE.checkKey} Mintlify's admin keys start with mint_, not with mint_dsc_ or mint_us_.`,
  checkAccess: (mayWrite) =>
    `Check that the key belongs to the project's organisation${mayWrite ? ", isn't limited to reading," : ''} ` +
    "and allows the runner's IP address. Check that the plan includes the agent.",
  limit: 'Mintlify documents a limit of 100 uses per project per hour.',
}

export function factsOf(baseUrl: string): ServiceFacts {
  return baseUrl === MINTLIFY_URL ? OF_MINTLIFY : OF_ANY_SERVICE
}
