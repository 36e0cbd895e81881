/**
 * Mutants that no test can kill, because the code behaves the same with them, and why. Each is named by what it changes,
 * and by the whole line where that is not enough. See docs/development/mutation.md.
 */

const FOR_THE_TYPES = "It is never undefined here, which the types don't say."

export const EQUIVALENT = {
  'src/agent/job.ts': [
    {
      mutator: 'Regex',
      from: '/[?#].*$/s',
      to: '/[?#].*/s',
      why: 'With the flag s, the dot takes everything to the end.',
    },
    {
      mutator: 'OptionalChaining',
      from: "link.split('/')[2]?.split",
      to: "link.split('/')[2].split",
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "const authority = link.split('/')[2]?.split(/[?#]/)[0] ?? ''",
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "const path = link === '' ? '' : new URL(link).pathname",
      why: 'Neither text is a path of a pull request.',
    },
    {
      mutator: 'OptionalChaining',
      from: 'match?.[1]?.slice',
      to: 'match?.[1].slice',
      why: FOR_THE_TYPES,
    },
  ],
  'src/agent/verdict.ts': [
    {
      mutator: 'ConditionalExpression',
      from: "case 'no-response': return retry(result.reason)",
      to: "case 'no-response':",
      why: 'The next case does the same for a result without `permanent`.',
    },
  ],
  'src/escape.ts': [
    {
      mutator: 'ConditionalExpression',
      from: 'secrets.length === 0',
      to: 'false',
      why: 'A short cut: without secrets nothing is found.',
    },
    {
      mutator: 'ConditionalExpression',
      from: 'view.bytes.includes(PERCENT) || view.bytes.includes(AMPERSAND)',
      to: 'true',
      why: 'The view that is added is the same as another one.',
    },
    {
      mutator: 'ConditionalExpression',
      from: 'hasWeb && hasBackslash',
      to: 'true',
      why: 'The view that is added is the same as another one.',
    },
    {
      mutator: 'LogicalOperator',
      from: 'hasWeb && hasBackslash',
      to: 'hasWeb || hasBackslash',
      why: 'The view that is added is the same as another one.',
    },
    {
      mutator: 'ConditionalExpression',
      from: 'first < 0',
      to: 'false',
      why: 'A short cut: without its first bytes, no secret is found.',
    },
    {
      mutator: 'ConditionalExpression',
      from: 'low !== undefined',
      to: 'true',
      why: 'A comparison of undefined with a number is false.',
    },
    {
      mutator: 'EqualityOperator',
      from: 'at < key.length',
      to: 'at <= key.length',
      why: 'A typed array ignores what is written past its end.',
    },
    {
      mutator: 'OptionalChaining',
      from: 'character.codePointAt(0)?.toString',
      to: 'character.codePointAt(0).toString',
      line: '.replace(INVISIBLE, (character) => `\\\\u{${character.codePointAt(0)?.toString(16)}}`)',
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'OptionalChaining',
      from: 'character.codePointAt(0)?.toString',
      to: 'character.codePointAt(0).toString',
      line: "character === '\\t' ? '  ' : `\\\\u{${character.codePointAt(0)?.toString(16)}}`,",
      why: FOR_THE_TYPES,
    },
  ],
  'src/net/backoff.ts': [
    {
      mutator: 'ConditionalExpression',
      from: 'retryAfterMs !== undefined',
      to: 'true',
      why: 'A comparison of undefined with a number is false.',
    },
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      why: 'Neither text is a number or a date.',
    },
  ],
  'src/run/poll.ts': [
    {
      mutator: 'ConditionalExpression',
      from: "verdict.next === 'retry'",
      to: 'true',
      why: 'Only this verdict has `invalid`.',
    },
    {
      mutator: 'ObjectLiteral',
      from: '{ delayMs }',
      to: '{}',
      why: 'A request is aborted when the deadline is, which then ends the loop.',
    },
    {
      mutator: 'ConditionalExpression',
      from: "precededBy.kind === 'message'",
      to: 'true',
      why: 'Only after a message is a job not believed.',
    },
  ],
  'src/run/run.ts': [
    {
      mutator: 'ConditionalExpression',
      from: 'job !== undefined',
      to: 'true',
      why: 'A create request is accepted only with a job.',
    },
    {
      mutator: 'OptionalChaining',
      from: 'job?.status',
      to: 'job.status',
      line: "return kind === 'create' && isFinal(job?.status) ? outcomeOf(job.status, job.link) : undefined",
      why: FOR_THE_TYPES,
    },
  ],
  'src/run/send.ts': [
    {
      mutator: 'ConditionalExpression',
      from: "verdict.next !== 'retry'",
      to: 'true',
      why: 'A verdict to retry has no `unknown`.',
    },
    {
      mutator: 'StringLiteral',
      from: "'retry'",
      to: '""',
      line: "progress.resultUnknown = verdict.next !== 'retry' && verdict.unknown !== undefined",
      why: 'A verdict to retry has no `unknown`.',
    },
    {
      mutator: 'ConditionalExpression',
      from: "verdict.next === 'retry'",
      to: 'false',
      why: 'A verdict to retry has no `unknown`.',
    },
    {
      mutator: 'StringLiteral',
      from: "'retry'",
      to: '""',
      line: "if (deadline.cancelled()) throw new Cancelled(verdict.next === 'retry' ? undefined : verdict.unknown)",
      why: 'A verdict to retry has no `unknown`.',
    },
  ],
  'src/event/event.ts': [
    {
      mutator: 'ArrayDeclaration',
      from: '[]',
      to: '["Stryker was here"]',
      line: "...(name === 'status' ? ['sha'] : []),",
      why: 'No payload has this field.',
    },
    {
      mutator: 'StringLiteral',
      from: "'utf8'",
      to: '""',
      why: 'JSON.parse reads a buffer as UTF-8.',
    },
    {
      mutator: 'StringLiteral',
      from: "'unreadable'",
      to: '""',
      why: 'Every error of readFileSync has a code.',
    },
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "const sha = paths.map((path) => getString(payload, path)).find((text) => text !== '') ?? ''",
      why: 'Neither text is the name of a commit.',
    },
    {
      mutator: 'ConditionalExpression',
      from: "typeof number === 'number'",
      to: 'true',
      why: 'isSafeInteger is false for anything else.',
    },
    {
      mutator: 'Regex',
      from: '/@refs\\/.*$/',
      to: '/@refs\\/.*/',
      why: 'A ref has no line breaks.',
    },
  ],
  'src/event/facts.ts': [
    {
      mutator: 'ArrayDeclaration',
      from: '[]',
      to: '["Stryker was here"]',
      line: 'const top = Object.hasOwn(TOP, eventName) ? (TOP[eventName] ?? []) : []',
      why: 'No payload has a value at the path that this adds.',
    },
    {
      mutator: 'ArrayDeclaration',
      from: '[]',
      to: '["Stryker was here"]',
      line: 'const top = Object.hasOwn(TOP, eventName) ? (TOP[eventName] ?? []) : []',
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'ArrayDeclaration',
      from: '[]',
      to: '["Stryker was here"]',
      line: "const action: readonly Source[] = eventName === 'repository_dispatch' ? [] : [['action', 'action']]",
      why: 'No payload has a value at the path that this adds.',
    },
  ],
  'src/inputs/values.ts': [
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "readonly value = '',",
      why: 'Where no value is given, the text does not show it.',
    },
    {
      mutator: 'StringLiteral',
      from: "'invalid input'",
      to: '""',
      why: '`describe` makes the text; nobody reads the message.',
    },
    {
      mutator: 'ConditionalExpression',
      from: '!(thrown instanceof PathPatternError)',
      to: 'false',
      why: 'parsePathPatterns throws nothing else.',
    },
    {
      mutator: 'Regex',
      from: '/^(https?:\\/\\/)?.*@/is',
      to: '/(https?:\\/\\/)?.*@/is',
      why: 'With the flag s, the dot takes everything from the start.',
    },
    {
      mutator: 'Regex',
      from: '/([?#]).+$/s',
      to: '/([?#]).+/s',
      why: 'With the flag s, the dot takes everything to the end.',
    },
    {
      mutator: 'Regex',
      from: '/^127(?:\\.\\d{1,3}){3}$/',
      to: '/127(?:\\.\\d{1,3}){3}$/',
      why: 'URL takes a host that ends in a number for an IPv4 address.',
    },
  ],
  'src/run/previous-run.ts': [
    {
      mutator: 'OptionalChaining',
      from: 'state?.jobId',
      to: 'state.jobId',
      line: "const rerun = ofThisRun.find((state) => state?.jobId !== '') ?? ofThisRun[0]",
      why: FOR_THE_TYPES,
    },
  ],
  'src/net/proxy.ts': [
    {
      mutator: 'Regex',
      from: '/^https?:$/',
      to: '/^https?:/',
      why: 'The protocol of a URL ends at its colon.',
    },
  ],
  'src/inputs/prompt-file.ts': [
    {
      mutator: 'UnaryOperator',
      from: '-1',
      to: '+1',
      why: 'Any number but 0 starts the loop.',
    },
  ],
  'src/github/marker.ts': [
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "for (const [, name, data = '', signature = ''] of text.matchAll(MARKER)) {",
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "for (const [, name, data = '', signature = ''] of text.matchAll(MARKER)) {",
      why: FOR_THE_TYPES,
    },
  ],
  'src/prompt/trigger.ts': [
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "const [firstLine = ''] = message.trim().split(/\\r\\n|\\r|\\n/)",
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'ConditionalExpression',
      from: 'list.commits.length === 0',
      to: 'false',
      why: 'Without commits the value is empty, and left out.',
    },
  ],
  'src/inputs/inputs.ts': [
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "return createRedactor(key.length < MIN_UNIQUE_LENGTH ? '' : key)",
      why: 'No input has this text.',
    },
  ],
  'src/report/summary.ts': [
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "return runUrl && `[Run ${inlineCode(runUrl.split('/').at(-1) ?? '')}](<${runUrl}>)`",
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "['Run', runUrl && `[${show(runUrl.split('/').at(-1) ?? '')}](<${runUrl}>)`],",
      why: FOR_THE_TYPES,
    },
  ],
  'src/report/messages.ts': [
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "const { link = '' } = progress.job ?? {}",
      why: 'Without a job, no sentence has the link.',
    },
    {
      mutator: 'OptionalChaining',
      from: 'job?.link',
      to: 'job.link',
      line: "const link = job?.link ? `, pull request ${job.link}` : ''",
      why: 'The line is written for a job that was received.',
    },
    {
      mutator: 'OptionalChaining',
      from: 'progress.job?.linkRejected',
      to: 'progress.job.linkRejected',
      line: 'return progress.job?.linkRejected',
      why: 'Without a job, no run ends as no-changes.',
    },
    {
      mutator: 'OptionalChaining',
      from: 'progress.job?.linkRejected',
      to: 'progress.job.linkRejected',
      line: "if (result.outcome === 'no-changes' && progress.job?.linkRejected) return { level: 'warn', text }",
      why: 'Without a job, no run ends as no-changes.',
    },
    {
      mutator: 'OptionalChaining',
      from: 'progress.job?.link',
      to: 'progress.job.link',
      line: "progress.job?.link ? 'Review the pull request.' : '',",
      why: 'Without a job, no run ends as archived.',
    },
    {
      mutator: 'OptionalChaining',
      from: 'progress.job?.linkRejected',
      to: 'progress.job.linkRejected',
      line: 'if (progress.job?.linkRejected) return "See the service\'s dashboard for the pull request."',
      why: 'Without a job, no run ends as no-changes.',
    },
  ],
  'src/prompt/budget.ts': [
    {
      mutator: 'ConditionalExpression',
      from: 'encoded.length <= limit',
      to: 'false',
      why: 'A short cut: what fits is returned whole.',
    },
    {
      mutator: 'EqualityOperator',
      from: 'encoded.length <= limit',
      to: 'encoded.length < limit',
      why: 'A short cut: what fits is returned whole.',
    },
  ],
  'src/inputs/path-patterns.ts': [
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "if (quantifier === 'once' && literals.length === 1) texts.push(texts.pop() + (literals[0] ?? ''))",
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "const character = line.characters[at] ?? ''",
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "ranges.push(expandRange(inside[at] ?? '', inside[at + length - 1] ?? ''))",
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'StringLiteral',
      from: "''",
      to: '"Stryker was here!"',
      line: "ranges.push(expandRange(inside[at] ?? '', inside[at + length - 1] ?? ''))",
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'EqualityOperator',
      from: 'index < tokens.length',
      to: 'index <= tokens.length',
      line: 'for (let index = 0; index < tokens.length; index++) {',
      why: 'There is no token at that place.',
    },
    {
      mutator: 'ConditionalExpression',
      from: 'token === undefined',
      to: 'false',
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'ConditionalExpression',
      from: 'next.length === 0',
      to: 'false',
      why: 'A short cut: what matches nothing now never will.',
    },
  ],
  'src/prompt/compose.ts': [
    {
      mutator: 'ArrayDeclaration',
      from: '[]',
      to: '["Stryker was here"]',
      line: "level === 'diff' ? diffsSection(context.changes?.files ?? [], fence) : () => '',",
      why: 'A text has no patch, so it is no diff.',
    },
  ],
  'src/prompt/diffs.ts': [
    {
      mutator: 'ConditionalExpression',
      from: 'first !== undefined',
      to: 'true',
      why: FOR_THE_TYPES,
    },
    {
      mutator: 'EqualityOperator',
      from: 'first.size > room',
      to: 'first.size >= room',
      why: 'A diff of exactly that size is kept whole, and then no room is left for its start.',
    },
    {
      mutator: 'EqualityOperator',
      from: 'available > 0',
      to: 'available >= 0',
      why: 'Without room, no end of a line is found after the first character.',
    },
  ],
  'src/prompt/fence.ts': [
    {
      mutator: 'OptionalChaining',
      from: 'character.codePointAt(0)?.toString',
      to: 'character.codePointAt(0).toString',
      why: FOR_THE_TYPES,
    },
  ],
}
