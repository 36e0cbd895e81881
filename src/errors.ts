/** The errors that a reader is told: each with the word for `error-code`, what happened, and what to do now. */

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

/** A fault that ends the step, told once. */
export class ActionError extends Error {
  override readonly name = 'ActionError'

  /**
   * @param code the value of the output `error-code`
   * @param message which request or input, what came, what was expected
   * @param advice what to do now, in the action's own words alone: the summary shows it as Markdown
   */
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The step was cancelled. `unknown` is set where a request was on its way and what became of it is not known. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'

  constructor(readonly unknown?: ActionError) {
    super('cancelled')
  }
}

/** What an unexpected exception is told as. */
export function internalError(thrown: unknown): ActionError {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  return new ActionError(
    'internal',
    `The action itself failed: ${text}.`,
    'Run it again with debug logging switched on, and report what the log says.',
    { cause: thrown },
  )
}
