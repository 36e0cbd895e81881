/** Which of Octokit's endpoints the compiled code calls: the bundle has these alone. */

/** @typedef {Record<string, Record<string, unknown>>} Endpoints by scope and name */

/**
 * Finds each `….pulls.get(`, wherever a formatter breaks the line. A step that calls an endpoint
 * that the bundle lacks would fail, so another use of a scope is an error.
 *
 * @param {string} code without comments
 * @param {Endpoints} all
 * @returns {Endpoints}
 */
export function calledEndpoints(code, all) {
  /** @type {Endpoints} */
  const called = {}
  const uses = [...code.matchAll(/(?<=[\w)\]?]\s*)\.\s*(\w+)(?:\s*\.\s*(\w+)\s*\()?/g)]
  const takenApart = [...code.matchAll(/\{([^{}]*)\}\s*=[^;={}]*\bgithub\b(?!\s*[.?\w])/g)]
  const parts = takenApart.flatMap(([, names = '']) => names.match(/\w+/g) ?? [])
  for (const [use = '', scope = '', name = ''] of [...uses, ...parts.map((part) => [part, part])]) {
    if (!Object.hasOwn(all, scope)) continue
    if (all[scope]?.[name] === undefined)
      throw new Error(`The bundle would lack an endpoint: no call of Octokit's is "${use.trim()}".`)
    called[scope] = { ...called[scope], [name]: all[scope][name] }
  }
  return called
}
