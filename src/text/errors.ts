/** User-facing errors: each has the value for `error-code`, what happened, and what to do now. */

/** docs/troubleshooting.md has these words: people paste them. [output.error-code] */
export type ErrorCode =
  | 'input'
  | 'auth'
  | 'not-found'
  | 'rejected'
  | 'rate-limited'
  | 'network'
  | 'create-unknown'
  | 'contract'
  | 'github'
  | 'internal'

/** Ends the step, and is reported once. */
export class ActionError extends Error {
  override readonly name: string = 'ActionError'

  /**
   * @param code the value of the output `error-code`
   * @param message which request or input, what came, what was expected
   * @param advice what to do now, without text from outside
   */
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    // The cause is shown with debug logging.
    super(message, options)
  }
}

/** `unknown` is set if a request was in flight and its result is unknown. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'

  constructor(readonly unknown?: ActionError) {
    super('cancelled')
  }
}

/** This ends a sentence that begins with "look". [report.where-to-look] */
export const WHERE_TO_LOOK =
  "for a new pull request in the docs repository: it takes some minutes to appear. Then look in the service's dashboard, if it lists docs jobs (Mintlify: in the activity log of its Usage page)"

/** An error of the action must not hide a docs job that is paid. [cancel.exception] */
export function toActionError(thrown: unknown): ActionError {
  if (thrown instanceof ActionError) return thrown
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  return new ActionError(
    'internal',
    `The action itself failed: ${text.replace(/\.$/, '')}.`,
    'Report this error with the log, preferably of a run with debug logging.',
    { cause: thrown },
  )
}

/** Why a connection will never succeed, however often it is retried. */
export type PermanentFailure =
  /** The certificate's issuer is not one that the runner trusts, or the certificate is wrong. */
  | `${'server' | 'proxy'}-${'issuer' | 'certificate'}`
  /** None were set; they were rejected; or the proxy takes none that can be set. */
  | `proxy-${'unauthenticated' | 'authentication' | 'scheme'}`

const TRUST_ADVICE =
  "If you use a private certificate authority, set NODE_EXTRA_CA_CERTS in the step's env to its certificate file, or NODE_USE_SYSTEM_CA to 1 if the runner's system trusts it. " +
  "Verification can't be turned off."

const REPLACE_ADVICE =
  "Whoever runs the host has to replace the certificate, unless the runner's clock is wrong. Verification can't be turned off."

export function isOfCertificate(failure: PermanentFailure | undefined): boolean {
  return /issuer|certificate/.test(failure ?? '')
}

/** Tells what a permanent failure is, and what to do about it. */
export function explainFailure(
  failure: PermanentFailure,
  server: string,
): readonly [text: string, advice: string] {
  if (!isOfCertificate(failure)) {
    const way =
      failure === 'proxy-scheme'
        ? 'This action knows Basic alone: use a local proxy that can sign in there'
        : 'Set the user name and password in HTTPS_PROXY (http://user:password@host:port)'
    return [
      `the proxy ${failure === 'proxy-authentication' ? 'rejected the' : 'wants'} credentials`,
      `${way}, or list the host in NO_PROXY.`,
    ]
  }
  const advice = failure.endsWith('issuer') ? TRUST_ADVICE : REPLACE_ADVICE
  return failure.startsWith('proxy')
    ? ["the proxy's certificate is not trusted", `Check HTTPS_PROXY. ${advice}`]
    : [`${server}'s certificate is not trusted`, advice]
}
