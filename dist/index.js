import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";
/******/ var __webpack_modules__ = ({

/***/ 9896:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("fs");

/***/ }),

/***/ 4589:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:assert");

/***/ }),

/***/ 6698:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:async_hooks");

/***/ }),

/***/ 4573:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:buffer");

/***/ }),

/***/ 7540:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:console");

/***/ }),

/***/ 7598:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:crypto");

/***/ }),

/***/ 3053:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:diagnostics_channel");

/***/ }),

/***/ 610:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:dns");

/***/ }),

/***/ 8474:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:events");

/***/ }),

/***/ 3024:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:fs");

/***/ }),

/***/ 1455:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:fs/promises");

/***/ }),

/***/ 7067:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:http");

/***/ }),

/***/ 2467:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:http2");

/***/ }),

/***/ 4708:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:https");

/***/ }),

/***/ 7030:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:net");

/***/ }),

/***/ 6760:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:path");

/***/ }),

/***/ 643:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:perf_hooks");

/***/ }),

/***/ 1792:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:querystring");

/***/ }),

/***/ 99:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:sqlite");

/***/ }),

/***/ 7075:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:stream");

/***/ }),

/***/ 7997:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:timers");

/***/ }),

/***/ 1692:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:tls");

/***/ }),

/***/ 3136:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:url");

/***/ }),

/***/ 7975:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:util");

/***/ }),

/***/ 3429:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:util/types");

/***/ }),

/***/ 5919:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:worker_threads");

/***/ }),

/***/ 8522:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:zlib");

/***/ }),

/***/ 857:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("os");

/***/ }),

/***/ 7406:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   WB: () => (/* binding */ internalError),
/* harmony export */   cJ: () => (/* binding */ Cancelled),
/* harmony export */   lZ: () => (/* binding */ ActionError)
/* harmony export */ });
/** The errors that a reader is told: each with the word for `error-code`, what happened, and what to do now. */
/** A fault that ends the step, told once. */
class ActionError extends Error {
    code;
    advice;
    name = 'ActionError';
    /**
     * @param code the value of the output `error-code`
     * @param message which request or input, what came, what was expected
     * @param advice what to do now, in the action's own words alone: the summary shows it as Markdown
     */
    constructor(code, message, advice, options) {
        super(message, options);
        this.code = code;
        this.advice = advice;
    }
}
/** The step was cancelled. `unknown` is set where a request was on its way and what became of it is not known. */
class Cancelled extends Error {
    unknown;
    name = 'Cancelled';
    constructor(unknown) {
        super('cancelled');
        this.unknown = unknown;
    }
}
/** What an unexpected exception is told as. */
function internalError(thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return new ActionError('internal', `The action itself failed: ${text}.`, 'Run it again with debug logging switched on, and report what the log says.', { cause: thrown });
}
//# sourceMappingURL=errors.js.map

/***/ }),

/***/ 8622:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   $Q: () => (/* binding */ clip),
/* harmony export */   $p: () => (/* binding */ redactor),
/* harmony export */   TN: () => (/* binding */ oneLine),
/* harmony export */   aY: () => (/* binding */ code),
/* harmony export */   hD: () => (/* binding */ quote),
/* harmony export */   tJ: () => (/* binding */ inert),
/* harmony export */   wi: () => (/* binding */ inertLines)
/* harmony export */ });
/** Makes text from outside harmless: the key replaced, workflow commands broken, Markdown shown as written. */
/**
 * Characters that move the cursor, break a line, reorder what is read or are not seen: controls, format characters,
 * line separators; not the joiner (U+200D) that emoji are made with.
 */
const INVISIBLE = /(?!\u200d)[\p{Cc}\p{Cf}\u2028\u2029]/gu;
/**
 * Makes a function that replaces the key by `***`, whether it is written plainly, percent-encoded or escaped as
 * in a JSON string, in whole or in part.
 *
 * @param keys the secrets; an empty one is none.
 */
function redactor(...keys) {
    const forms = keys.filter((key) => key !== '').map((key) => [...key].map(formsOf).join(''));
    if (forms.length === 0)
        return (text) => text;
    const pattern = new RegExp(forms.join('|'), 'gu');
    return (text) => text.replace(pattern, '***');
}
/** One character of the key as a pattern: as it is, as %XX, as \uXXXX, as \" or \\ or \/. */
function formsOf(character) {
    const plain = character.replace(/[\\^$.*+?()[\]{}|/]/u, '\\$&');
    const percent = encodeBytes(character).map((byte) => `%${anyCase(byte)}`);
    const unit = character.charCodeAt(0).toString(16).padStart(4, '0');
    const short = '"\\/'.includes(character) ? [`\\\\${plain}`] : [];
    return `(?:${[...short, plain, percent.join(''), `\\\\u${anyCase(unit)}`].join('|')})`;
}
function encodeBytes(character) {
    return [...new TextEncoder().encode(character)].map((byte) => byte.toString(16).padStart(2, '0'));
}
function anyCase(hex) {
    return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
/**
 * Cuts a text to `limit` characters, with a mark where it was cut.
 *
 * Whoever clips a text from outside redacts it first: half a key is not found any more.
 */
function clip(text, limit) {
    return text.length <= limit ? text : `${text.slice(0, limit).toWellFormed()}…`;
}
/** One line of a text: white space folded, invisible and reordering characters shown as `\u{…}`. */
function oneLine(text) {
    return text
        .replace(/[ \t\r\n]+/g, ' ')
        .trim()
        .replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
/**
 * One line that can't be a workflow command.
 *
 * The runner reads `::name::` after leading blanks, and `##[name]` anywhere in a line
 * (actions/runner, src/Runner.Common/ActionCommand.cs: TryParseV2 and TryParse).
 */
function inert(line) {
    return line
        .replace(INVISIBLE, (character) => character === '\t' ? '  ' : `\\u{${character.codePointAt(0)?.toString(16)}}`)
        .replaceAll('##[', '##\\[')
        .replace(/^(\s*):(?=:)/u, '$1\\:');
}
/** Any lines as lines of a log that can't be workflow commands, each behind a bar. */
function inertLines(text) {
    return text.split(/\r\n|\r|\n/).map((line) => inert(`| ${line}`));
}
/** A text from outside in quotes, on one line. Never cut: the key is taken out where it is written, and in whole. */
function quote(text) {
    return `"${oneLine(text)}"`;
}
/**
 * A text from outside as Markdown that shows it as it is, as code: there GitHub makes no mention, no issue link and no
 * address of it. A text with marks that could end the code or the table has each of its marks as an entity.
 */
function code(text) {
    const line = oneLine(text);
    if (/^[^`|<>&[\]\\]+$/.test(line))
        return `\`${line}\``;
    const entities = line.replace(/[!-/:-@[-`{-~]/g, (mark) => `&#${mark.charCodeAt(0)};`);
    return `<code>${entities}</code>`;
}
//# sourceMappingURL=escape.js.map

/***/ }),

/***/ 5865:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   R: () => (/* binding */ workflowPath),
/* harmony export */   j: () => (/* binding */ readEvent)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(3024);
/** What the runner says of the run: which event, which pull request, which commits, which step this is. */

/** Reads the event. A payload that can't be read is a fault of its own, told where the payload is needed. */
function readEvent({ eventName: name, eventPath }) {
    try {
        const payload = JSON.parse((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(eventPath, 'utf8'));
        const action = textAt(payload, 'action');
        const comment = at(payload, 'comment') ?? at(payload, 'review');
        return {
            name,
            action,
            pullRequest: pullRequestOf(payload),
            push: pushOf(name, payload),
            comment: comment === undefined
                ? undefined
                : { author: textAt(comment, 'user.login'), body: textAt(comment, 'body') },
            fault: undefined,
        };
    }
    catch (thrown) {
        const reason = thrown instanceof SyntaxError
            ? 'it is not JSON'
            : (thrown.code ?? 'unreadable');
        const fault = `the event's payload (GITHUB_EVENT_PATH, ${JSON.stringify(eventPath)}) can't be read: ${reason}`;
        return { name, action: '', pullRequest: undefined, push: undefined, comment: undefined, fault };
    }
}
function pullRequestOf(payload) {
    // A comment on a pull request comes as one on an issue that has a pull_request.
    const from = at(payload, 'pull_request') ?? (at(payload, 'issue.pull_request') && at(payload, 'issue'));
    const number = at(from, 'number');
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1)
        return undefined;
    return {
        number,
        title: textAt(from, 'title'),
        body: textAt(from, 'body'),
        author: textAt(from, 'user.login'),
        url: textAt(from, 'html_url'),
        base: textAt(from, 'base.ref'),
        head: textAt(from, 'head.label') || textAt(from, 'head.ref'),
    };
}
function pushOf(name, payload) {
    if (name !== 'push')
        return undefined;
    const commits = at(payload, 'commits');
    return {
        before: textAt(payload, 'before'),
        after: textAt(payload, 'after'),
        sender: textAt(payload, 'sender.login'),
        commits: (Array.isArray(commits) ? commits : []).map((commit) => ({
            sha: textAt(commit, 'id'),
            author: textAt(commit, 'author.username'),
            message: textAt(commit, 'message'),
        })),
    };
}
/** The value at a path of names with dots between; undefined where there is none. */
function at(value, path) {
    return path.split('.').reduce((here, name) => {
        const inside = typeof here === 'object' && here !== null && Object.hasOwn(here, name);
        return inside ? here[name] : undefined;
    }, value);
}
function textAt(value, path) {
    const text = at(value, path);
    return typeof text === 'string' ? text : '';
}
/** The workflow's path, without its ref: `.github/workflows/docs.yml`. */
function workflowPath({ workflowRef }) {
    return workflowRef
        .replace(/@refs\/.*$/, '')
        .split('/')
        .slice(2)
        .join('/');
}
//# sourceMappingURL=event.js.map

/***/ }),

/***/ 1185:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Iz: () => (/* binding */ parsePaths),
/* harmony export */   S3: () => (/* binding */ PathPatternError),
/* harmony export */   cK: () => (/* binding */ matches)
/* harmony export */ });
/** Tells which changed files count, by patterns that mean what they mean in `on.push.paths`. */
/** The most patterns there may be, and the most characters of one. */
const LIMIT = 1000;
/** What `[]` takes, each in the order of its ranges. */
const ALPHABETS = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];
/** What `\` makes plain: the marks of ASCII, and the space. */
const MARK = /^[ -/:-@[-`{-~]$/;
/** A line that can't be a pattern. The message has the line's number and no text from outside. */
class PathPatternError extends Error {
    line;
    pattern;
    name = 'PathPatternError';
    /**
     * @param line its number, the first is 1
     * @param pattern the line as it was written, trimmed
     * @param fault what is wrong with it, and what to write
     */
    constructor(line, pattern, fault) {
        super(`line ${line}: ${fault}`);
        this.line = line;
        this.pattern = pattern;
    }
}
/**
 * Reads patterns, one a line. Lines are trimmed and blank ones skipped; there are no comments.
 *
 * The rules are those of the filter pattern cheat sheet
 * (docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet).
 *
 * @throws PathPatternError at the first line that can't be a pattern.
 */
function parsePaths(text) {
    const lines = text
        .split(/\r\n|\r|\n/)
        .map((line, index) => ({ number: index + 1, text: line.trim() }))
        .filter((line) => line.text !== '');
    const extra = lines[LIMIT];
    if (extra !== undefined) {
        throw new PathPatternError(extra.number, extra.text, 'is one too many; takes at most 1,000 patterns');
    }
    return lines.map((line) => parseLine({ ...line, characters: [...line.text] }));
}
/**
 * Whether a changed file counts: the last pattern that matches its path says so. Where none does, it counts if there
 * are only patterns with `!`, or none at all.
 *
 * @param path from the root of the repository, with `/` and no `/` at the start.
 */
function matches(patterns, path) {
    const characters = [...path];
    const last = patterns.findLast((pattern) => isWhole(pattern, characters));
    return last === undefined ? patterns.every((pattern) => pattern.excludes) : !last.excludes;
}
function isWhole(pattern, path) {
    let states = skipOn(1n, pattern.skips | pattern.skipsToSegment);
    for (const character of path) {
        const taken = states & takers(pattern, character);
        if (taken === 0n)
            return false;
        const skips = character === '/' ? pattern.skips | pattern.skipsToSegment : pattern.skips;
        states = skipOn(((taken & pattern.moves) << 1n) | (taken & pattern.stays), skips);
    }
    return (states & pattern.end) !== 0n;
}
function takers(pattern, character) {
    const wild = character === '/' ? pattern.any : pattern.any | pattern.within;
    return wild | (pattern.named.get(character) ?? 0n);
}
/**
 * Adds the states that skipping leads to.
 *
 * The sum carries from the lowest state in each row of skipping ones to the one behind the row: what it changed is what
 * can be reached.
 */
function skipOn(states, skips) {
    return states | (((states & skips) + skips) ^ skips);
}
function parseLine(line) {
    if (line.characters.length > LIMIT)
        throw faultOf(line, 'is too long; takes at most 1,000 characters');
    if (line.text === '!')
        throw faultOf(line, '"!" has nothing after it; takes a pattern to exclude');
    const excludes = line.text.startsWith('!');
    const steps = [];
    for (let at = excludes ? 1 : 0; at < line.characters.length;) {
        const [step, next] = readStep(line, at);
        steps.push(step);
        at = next;
    }
    return { excludes, ...automaton(steps) };
}
/** Reads the step at a place, and where the next one starts. */
function readStep(line, at) {
    const wild = readWild(line.characters, at);
    if (wild !== undefined)
        return [{ named: [], often: wild }, at + wild.length];
    const [named, next] = readNamed(line, at);
    const mark = line.characters[next];
    return mark === '?' || mark === '+' ? [{ named, often: mark }, next + 1] : [{ named, often: 'once' }, next];
}
// `**` with its `/` is one step, for the page's `**/README.md` matches `README.md` too. It ends where a segment starts,
// for the page says "in a `docs` directory" of `**/docs/**` and "with the prefix `migrate-`" of `**/migrate-*.sql`.
function readWild(characters, at) {
    if (characters[at] !== '*')
        return undefined;
    if (characters[at + 1] !== '*')
        return '*';
    return characters[at + 2] === '/' ? '**/' : '**';
}
/** Reads the character at a place, or all of a `[]`. */
function readNamed(line, at) {
    const character = line.characters[at] ?? '';
    if (character === '?' || character === '+') {
        const advice = `takes a character or [] before it; a plain one is "\\${character}"`;
        throw faultOf(line, `"${character}" at character ${at + 1} has none to repeat; ${advice}`);
    }
    if (character === '[')
        return readBrackets(line, at);
    if (character !== '\\')
        return [[character], at + 1];
    const escaped = line.characters[at + 1] ?? '';
    if (MARK.test(escaped))
        return [[escaped], at + 2];
    const advice = 'takes a mark or a space after it; a plain one is "\\\\", and folders end in "/"';
    throw faultOf(line, `"\\" at character ${at + 1} makes nothing plain; ${advice}`);
}
function readBrackets(line, start) {
    const end = line.characters.indexOf(']', start);
    if (end === -1) {
        throw faultOf(line, `"[" at character ${start + 1} has no "]" after it; a plain one is "\\["`);
    }
    const ranges = readRanges(line.characters.slice(start + 1, end));
    if (ranges.length > 0 && !ranges.includes(''))
        return [[...ranges.join('')], end + 1];
    const advice = 'takes letters of a-z and A-Z, digits, and ranges of these that rise, such as [0-9a-z]';
    throw faultOf(line, `the [] at character ${start + 1} has something else or nothing in it; ${advice}`);
}
function readRanges(inside) {
    const ranges = [];
    for (let at = 0; at < inside.length;) {
        const length = inside[at + 1] === '-' && at + 2 < inside.length ? 3 : 1;
        ranges.push(rangeOf(inside[at] ?? '', inside[at + length - 1] ?? ''));
        at += length;
    }
    return ranges;
}
/** The characters from one to another of the same alphabet; none where that is no range. */
function rangeOf(first, last) {
    const alphabet = ALPHABETS.find((each) => each.includes(first)) ?? '';
    return alphabet.slice(alphabet.indexOf(first), alphabet.indexOf(last) + 1);
}
function automaton(steps) {
    return {
        named: namedBy(steps),
        any: setOf(steps, ['**', '**/']),
        within: setOf(steps, ['*']),
        moves: setOf(steps, ['once', '?', '+']),
        stays: setOf(steps, ['+', '*', '**', '**/']),
        skips: setOf(steps, ['?', '*', '**']),
        skipsToSegment: setOf(steps, ['**/']),
        end: 1n << BigInt(steps.length),
    };
}
function namedBy(steps) {
    const named = new Map();
    steps.forEach((step, state) => {
        for (const character of step.named) {
            named.set(character, (named.get(character) ?? 0n) | (1n << BigInt(state)));
        }
    });
    return named;
}
function setOf(steps, often) {
    const states = steps.map((step, state) => (often.includes(step.often) ? 1n << BigInt(state) : 0n));
    return states.reduce((all, each) => all | each, 0n);
}
function faultOf(line, fault) {
    return new PathPatternError(line.number, line.text, fault);
}
//# sourceMappingURL=paths.js.map

/***/ }),

/***/ 819:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   w: () => (/* binding */ skipAuthors)
/* harmony export */ });
/** Whether a run was brought about by the agent itself, so that its own pull request starts no job. Pure. */
const skipped = (skip) => ({ skip, unlessMerges: [] });
/**
 * Pull requests by these authors are skipped; so are pushes whose sender, or whose every non-merge commit's author, is
 * one of them. The payload of a push does not tell merges from other commits.
 *
 * @param authors in lower case; empty: nobody
 */
function skipAuthors(event, authors) {
    const listed = (login) => login !== '' && authors.has(login.toLowerCase());
    const { pullRequest, push } = event;
    if (pullRequest !== undefined && listed(pullRequest.author)) {
        return skipped(`the pull request is by ${pullRequest.author}`);
    }
    if (push !== undefined) {
        if (listed(push.sender))
            return skipped(`the push is by ${push.sender}`);
        return commitsVerdict(push, listed);
    }
    return { skip: undefined, unlessMerges: [] };
}
function commitsVerdict({ commits }, listed) {
    const others = commits.filter(({ author }) => !listed(author));
    if (commits.length === others.length)
        return { skip: undefined, unlessMerges: [] };
    return others.length === 0
        ? skipped('every commit of the push is by one of skip-authors')
        : { skip: undefined, unlessMerges: others.map(({ sha }) => sha) };
}
//# sourceMappingURL=skip-authors.js.map

/***/ }),

/***/ 6857:
/***/ ((__webpack_module__, __unused_webpack___webpack_exports__, __nccwpck_require__) => {

__nccwpck_require__.a(__webpack_module__, async (__webpack_handle_async_dependencies__, __webpack_async_result__) => { try {
/* harmony import */ var _main_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(3131);
/** The entry: runs the action, nothing else. */

await (0,_main_js__WEBPACK_IMPORTED_MODULE_0__/* .main */ .i)();
//# sourceMappingURL=index.js.map
__webpack_async_result__();
} catch(e) { __webpack_async_result__(e); } }, 1);

/***/ }),

/***/ 7502:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   _n: () => (/* binding */ pullRequestOf),
/* harmony export */   d$: () => (/* binding */ FAIL_ON),
/* harmony export */   eQ: () => (/* binding */ isId),
/* harmony export */   hY: () => (/* binding */ hasEnded),
/* harmony export */   o3: () => (/* binding */ safeLink),
/* harmony export */   sG: () => (/* binding */ outcomeOf),
/* harmony export */   ug: () => (/* binding */ failsStep),
/* harmony export */   zM: () => (/* binding */ isStatus)
/* harmony export */ });
/* unused harmony exports STATUSES, OUTCOMES */
/** The agent job: its states, what a state means for the step, and the pull request it opened. */
/** Every status that the service names; any other word is not passed on. */
const STATUSES = ['active', 'completed', 'archived', 'failed'];
const OUTCOMES = (/* unused pure expression or super */ null && ([
    'started',
    'pr-opened',
    'no-changes',
    'failed',
    'archived',
    'timed-out',
    'cancelled',
    'skipped',
    'dry-run',
    'error',
]));
/** The outcomes that `fail-on` may list. */
const FAIL_ON = ['failed', 'archived', 'timed-out', 'no-changes'];
function isStatus(word) {
    return STATUSES.includes(word);
}
function hasEnded(status) {
    return status !== undefined && status !== 'active';
}
/** What a job that has ended means for the step. */
function outcomeOf(status, link) {
    switch (status) {
        case 'completed':
            return link === '' ? 'no-changes' : 'pr-opened';
        case 'failed':
        case 'archived':
            return status;
    }
}
/** Whether an outcome fails the step: `error` and `cancelled` always do, the rest where `fail-on` lists it. */
function failsStep(outcome, failOn) {
    switch (outcome) {
        case 'error':
        case 'cancelled':
            return true;
        case 'failed':
        case 'archived':
        case 'timed-out':
        case 'no-changes':
            return failOn.has(outcome);
        case 'started':
        case 'pr-opened':
        case 'skipped':
        case 'dry-run':
            return false;
    }
}
/** An id that can be one segment of a path: not empty, not a dot segment, no control character, well-formed text. */
function isId(id) {
    return (id.trim() !== '' &&
        id !== '.' &&
        id !== '..' &&
        !/\p{Cc}/u.test(id) &&
        id.isWellFormed() &&
        id.length <= 512);
}
/**
 * The link where it is safe to hand on, else empty: people put it into shell lines and Markdown.
 *
 * Safe is http(s), without user info, at most 2,048 characters of `A-Z a-z 0-9 . _ ~ : / ? # @ % = + , -`.
 */
function safeLink(link) {
    if (link.length > 2048 || !/^https?:\/\/(?!\/)[A-Za-z0-9._~:/?#@%=+,-]+$/i.test(link))
        return '';
    const url = URL.canParse(link) ? new URL(link) : undefined;
    const authority = link.split('/')[2]?.split(/[?#]/)[0] ?? '';
    return url === undefined || authority.includes('@') ? '' : link;
}
const GITHUB_PULL = /^(\/[\w.-]+\/[\w.-]+)\/pull\/([1-9]\d{0,15})(?:\/|$)/;
const GITLAB_MERGE_REQUEST = /^((?:\/(?!-\/)[\w.-]+){2,}?)(?:\/-)?\/merge_requests\/([1-9]\d{0,15})(?:\/|$)/;
/** Reads GitHub's `/owner/repo/pull/N` and GitLab's `/group/project/-/merge_requests/N`. */
function pullRequestOf(link) {
    const path = link === '' ? '' : new URL(link).pathname;
    const match = GITHUB_PULL.exec(path) ?? GITLAB_MERGE_REQUEST.exec(path);
    return { repository: match?.[1]?.slice(1) ?? '', number: match?.[2] ?? '' };
}
//# sourceMappingURL=job.js.map

/***/ }),

/***/ 3131:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  i: () => (/* binding */ main)
});

// NAMESPACE OBJECT: ./build/src/runner.js
var runner_namespaceObject = {};
__nccwpck_require__.r(runner_namespaceObject);
__nccwpck_require__.d(runner_namespaceObject, {
  a8: () => (Reporter),
  t4: () => (catchFaults),
  hs: () => (catchSignals),
  pm: () => (clock),
  NS: () => (exit),
  _S: () => (forgetEvent),
  dK: () => (mask),
  KU: () => (nonce),
  IR: () => (promptRoots),
  eq: () => (proxyVariables),
  yT: () => (random),
  me: () => (rawInputs),
  t7: () => (runEnvironment)
});

// EXTERNAL MODULE: external "node:util"
var external_node_util_ = __nccwpck_require__(7975);
// EXTERNAL MODULE: ./build/src/errors.js
var errors = __nccwpck_require__(7406);
// EXTERNAL MODULE: ./build/src/escape.js
var src_escape = __nccwpck_require__(8622);
// EXTERNAL MODULE: ./build/src/github/event.js
var github_event = __nccwpck_require__(5865);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __nccwpck_require__(3024);
;// CONCATENATED MODULE: ./build/src/github/secrets.js
/** Why a run was given no secrets. */

/**
 * Why the runner handed this run no Actions secrets, in words for the reader; undefined where nothing speaks for it.
 *
 * Neither a pull request from a fork nor a run by Dependabot gets them
 * (docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request and
 * docs.github.com/en/code-security/reference/supply-chain-security/dependabot-on-actions).
 */
function secretsWithheld({ actor, eventName, eventPath, }) {
    if (actor === 'dependabot[bot]') {
        return ('This run was triggered by Dependabot, which gets Dependabot secrets and no Actions secrets. ' +
            "Add the key to the repository's Dependabot secrets too, or skip the step: " +
            "if: github.actor != 'dependabot[bot]'.");
    }
    // pull_request_target and its like run with the base's secrets.
    if (/^pull_request(?:_review|_review_comment)?$/.test(eventName) && isFromFork(eventPath)) {
        return ('This pull request comes from a fork, and such runs get no secrets. ' +
            'Skip the step for forks: if: github.event.pull_request.head.repo.full_name == github.repository.');
    }
    return undefined;
}
function isFromFork(path) {
    try {
        const payload = JSON.parse((0,external_node_fs_.readFileSync)(path, 'utf8'));
        const { head, base } = payload.pull_request;
        return head.repo === null || head.repo.full_name !== base.repo.full_name;
    }
    catch {
        return false; // No payload to read, nothing that speaks for a fork.
    }
}
//# sourceMappingURL=secrets.js.map
// EXTERNAL MODULE: ./build/src/github/skip-authors.js
var skip_authors = __nccwpck_require__(819);
// EXTERNAL MODULE: ./build/src/github/paths.js
var paths = __nccwpck_require__(1185);
// EXTERNAL MODULE: ./build/src/job.js
var src_job = __nccwpck_require__(7502);
;// CONCATENATED MODULE: ./build/src/inputs.js
/** Reads the inputs: raw texts in, one frozen `Inputs` out, or every fault that was found. */





/** Every input and its default. action.yml and the README are held to this table by a test. */
const DEFAULTS = {
    prompt: '',
    'prompt-file': '',
    'project-id': '',
    'api-key': '',
    'job-id': '',
    'job-scope': 'run',
    'job-key': '',
    context: 'none',
    'context-paths': '',
    wait: 'true',
    'timeout-minutes': '30',
    'poll-interval-seconds': '',
    'fail-on': 'failed, archived, timed-out',
    comment: 'false',
    'github-token': '${{ github.token }}',
    'skip-authors': 'mintlify[bot]',
    'base-url': 'https://api.mintlify.com',
    'dry-run': 'false',
};
/** Bad input: one line a fault. Carries the job's id where that one was good. */
class InputError extends errors/* ActionError */.lZ {
    jobId;
    constructor(faults, jobId) {
        super('input', faults.map(({ input, text }) => `${input}: ${text}`).join('\n'), 'Nothing was sent.');
        this.jobId = jobId;
    }
}
/**
 * Reads all inputs.
 *
 * A blank value means the default: the runner fills a default only where the key is absent, and an expression often
 * comes out empty.
 *
 * @throws InputError with every fault.
 */
function readInputs(raw, sources) {
    const faults = [];
    const read = (input, parse) => {
        const value = raw[input].trim() || DEFAULTS[input];
        try {
            return parse(value);
        }
        catch (thrown) {
            if (!(thrown instanceof Invalid))
                throw thrown;
            const got = thrown.got === undefined ? '' : `got ${(0,src_escape/* quote */.hD)((0,src_escape/* clip */.$Q)(sources.redact(thrown.got), 80))}`;
            faults.push({ input, text: got + thrown.message });
            return undefined; // Never read: a fault ends in the throw below.
        }
    };
    const baseUrl = read('base-url', parseBaseUrl);
    const jobId = read('job-id', (value) => (value === '' ? '' : parseId(value)));
    const inputs = {
        apiKey: read('api-key', (value) => parseKey(value, baseUrl, sources.secretsWithheld)),
        projectId: read('project-id', parseProject),
        task: readTask(read, jobId, sources),
        jobScope: read('job-scope', (value) => parseScope(value, jobId)),
        jobKey: raw['job-key'].trim(),
        context: read('context', (value) => parseWord(value, ['none', 'event', 'diff'])),
        paths: read('context-paths', parsePatterns),
        comment: read('comment', parseBoolean),
        githubToken: raw['github-token'].trim(),
        skipAuthors: parseAuthors(raw['skip-authors']),
        wait: read('wait', parseBoolean),
        timeoutMs: read('timeout-minutes', (value) => parseNumber(value, TIMEOUT_MINUTES)) * 60_000,
        pollIntervalMs: read('poll-interval-seconds', parseInterval),
        failOn: read('fail-on', parseFailOn),
        baseUrl,
        dryRun: read('dry-run', parseBoolean),
    };
    if (faults.length > 0)
        throw new InputError(faults, jobId ?? '');
    return Object.freeze(inputs);
}
/** Whether what GitHub knows is asked for. */
function needsGitHub({ task, jobScope, context, paths, comment, skipAuthors: authors }, event) {
    const merges = (0,skip_authors/* skipAuthors */.w)(event, authors).unlessMerges.length > 0;
    const sends = task.kind !== 'attach';
    return (jobScope === 'pull-request' || comment || merges || (sends && (context !== 'none' || paths.length > 0)));
}
/** What is wrong with one input: what it got, if that may be shown, and the rest of the sentence. */
class Invalid extends Error {
    got;
    constructor(text, got) {
        super(text);
        this.got = got;
    }
}
function readTask(read, jobId, sources) {
    const fromFile = read('prompt-file', (path) => (path === '' ? '' : readFile(path, sources)));
    const prompt = read('prompt', (text) => {
        const whole = [text, fromFile].filter((part) => part !== '' && part !== undefined).join('\n\n');
        if (whole === '' && jobId === '' && fromFile === '') {
            throw new Invalid('got nothing; takes the instruction for the agent. Give prompt or prompt-file, or a job-id to wait for.');
        }
        return whole;
    });
    if (jobId === '')
        return { kind: 'create', prompt };
    return prompt === '' ? { kind: 'attach', jobId } : { kind: 'message', jobId, prompt };
}
function readFile(path, sources) {
    const file = sources.readPromptFile(path);
    if ('fault' in file)
        throw new Invalid(`, ${file.fault}`, path);
    return file.text;
}
function parseProject(value) {
    if (value === '') {
        throw new Invalid("got nothing; takes the project's id. Copy it from the API keys page of the dashboard.");
    }
    return parseId(value);
}
function parseId(value) {
    if ((0,src_job/* isId */.eQ)(value))
        return value;
    throw new Invalid('; takes an id as the service gives it: not "." or "..", without control characters, at most 512 characters. ' +
        'Copy it anew.', value);
}
/** Keys of these kinds are for other interfaces of the same service: its API keys page. */
const OTHER_KINDS = ['mint_dsc_', 'mint_us_'];
/** The value is never shown. */
function parseKey(value, baseUrl, secretsWithheld) {
    if (value === '') {
        throw new Invalid(`got nothing; takes the admin API key. ${secretsWithheld() ?? 'Set it from a secret: api-key: ${{ secrets.AGENT_API_KEY }}; a secret that does not exist comes out empty.'}`);
    }
    if (!/^[!-~]+$/.test(value)) {
        throw new Invalid('got a value with white space, control or non-ASCII characters inside; takes the admin API key as one word. Store the secret again, without quotes or line breaks.');
    }
    if (baseUrl !== DEFAULTS['base-url'])
        return value;
    const kind = OTHER_KINDS.find((prefix) => value.startsWith(prefix));
    if (kind !== undefined) {
        throw new Invalid(`got a key of another kind (${kind}…); takes an admin API key. Create one on the API keys page of the dashboard.`);
    }
    if (!value.startsWith('mint_')) {
        throw new Invalid('got a value that does not start with mint_; takes an admin API key, which does. Check which secret is passed, or set base-url for another service.');
    }
    return value;
}
/** YAML 1.2's booleans, as the core schema writes them (yaml.org/spec/1.2.2, section 10.3.2). */
function parseBoolean(value) {
    if (['true', 'True', 'TRUE'].includes(value))
        return true;
    if (['false', 'False', 'FALSE'].includes(value))
        return false;
    throw new Invalid('; takes true or false. Write one of these.', value);
}
function parseWord(value, words) {
    const word = words.find((known) => known === value);
    if (word !== undefined)
        return word;
    throw new Invalid(`; takes ${words.join(', ')}. Write one of these.`, value);
}
function parseScope(value, jobId) {
    const scope = parseWord(value, ['run', 'pull-request']);
    if (scope === 'run' || jobId === '')
        return scope;
    throw new Invalid(' together with job-id; takes one of both. Take one out.', value);
}
function parsePatterns(value) {
    try {
        return (0,paths/* parsePaths */.Iz)(value);
    }
    catch (thrown) {
        if (!(thrown instanceof paths/* PathPatternError */.S3))
            throw thrown;
        throw new Invalid(`, ${thrown.message}`, thrown.pattern);
    }
}
/** Nothing, unlike elsewhere, means nobody. */
function parseAuthors(value) {
    return new Set(value
        .toLowerCase()
        .split(/[\s,]+/)
        .filter((login) => login !== ''));
}
const TIMEOUT_MINUTES = {
    fits: (value) => value > 0 && value <= 1440,
    text: 'a number of minutes above 0, at most 1440. Write for example 30, or 0.5 for half a minute',
};
const INTERVAL_SECONDS = {
    fits: (value) => value >= 0.1 && value <= 3600,
    text: 'a number of seconds from 0.1 to 3600. Write for example 10, or nothing for the adaptive schedule',
};
function parseNumber(value, range) {
    const plain = value.length <= 20 && /^(?:\d+\.?\d*|\.\d+)$/.test(value);
    const number = plain ? Number(value) : Number.NaN;
    if (range.fits(number))
        return number;
    throw new Invalid(`; takes ${range.text}.`, value);
}
function parseInterval(value) {
    return value === '' ? undefined : parseNumber(value, INTERVAL_SECONDS) * 1000;
}
function parseFailOn(value) {
    const words = value.split(/[\s,]+/).filter((word) => word !== '');
    if (words.length === 1 && words[0] === 'none')
        return new Set();
    const strange = words.filter((word) => !src_job/* FAIL_ON */.d$.includes(word));
    if (strange.length === 0 && words.length > 0)
        return new Set(words);
    throw new Invalid(`; takes some of ${src_job/* FAIL_ON */.d$.join(', ')}, or none alone (error and cancelled always fail the step). ` +
        'Separate them by comma, space or line.', value);
}
function parseBaseUrl(value) {
    // User info, query and fragment may hold a secret.
    const shown = value.replace(/^(https?:\/\/)?.*@/is, '$1***@').replace(/([?#]).+$/s, '$1***');
    const takes = 'takes the address of the service, such as https://agent.example.com/prefix';
    const url = value.length <= 2048 && URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined)
        throw new Invalid(`, which is no address; ${takes}. Check its spelling.`, shown);
    if (url.username !== '' || url.password !== '' || /[?#]/.test(value)) {
        throw new Invalid(`; ${takes}, without user info, query or fragment. Take these out.`, shown);
    }
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
        throw new Invalid(`; ${takes}: https, or http on loopback only. Write https, so that the key is not sent in clear.`, shown);
    }
    return url.origin + url.pathname.replace(/\/+$/, '');
}
/** localhost, 127.0.0.0/8 (RFC 1122, 3.2.1.3) and ::1 (RFC 4291, 2.5.3), as `URL` spells them. */
function isLoopback(hostname) {
    return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
//# sourceMappingURL=inputs.js.map
;// CONCATENATED MODULE: ./build/src/progress.js
/** What is known of the job at any moment: what stands in the outputs and the summary if the step dies right now. */
class Progress {
    /** Given, or learned from the answer to a create. */
    jobId = '';
    /** The job as last received. */
    job;
    /** The last word that is in the service's list. */
    status;
    /** An existing job was messaged or waited for. */
    reused = false;
    /** A create or a message is on its way. */
    sending = false;
    moments = [];
    #clock;
    #startedAt;
    /** @param startedAt on the clock, in milliseconds; the real one starts with the process */
    constructor(clock, startedAt = 0) {
        this.#clock = clock;
        this.#startedAt = startedAt;
    }
    /** The service has a job or a message of this step, or the step waits for a job: there is something to pick up. */
    get taken() {
        return this.job !== undefined || this.reused;
    }
    /** Takes in what the service says of the job; true when it is news for a reader. */
    see(job) {
        const { status } = job;
        const changed = status !== undefined && status !== this.status;
        const news = changed || this.job === undefined || job.link !== this.job.link;
        if (changed) {
            this.status = status;
            this.moments.push({ date: this.#clock.date(), afterMs: this.elapsedMs(), status });
        }
        this.jobId ||= job.id;
        this.job = job;
        return news;
    }
    /** Milliseconds since the step began. */
    elapsedMs() {
        return this.#clock.now() - this.#startedAt;
    }
}
//# sourceMappingURL=progress.js.map
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __nccwpck_require__(6760);
;// CONCATENATED MODULE: ./build/src/prompt/files.js
/** Reads the prompt file safely: whoever can push to the checkout must not choose what is sent to the service. */


/** The largest prompt file, in bytes. */
const FILE_LIMIT = 1024 * 1024;
/**
 * Reads a file inside the workspace or the runner's temp folder as UTF-8, without its byte order mark, trimmed.
 *
 * Refused: anything outside, behind a symbolic link below the folder, under `.git`, no regular file, empty, over
 * 1 MiB, not UTF-8. Never waits: a FIFO is opened without blocking.
 *
 * @returns the text, or what is wrong and what to do, to follow `got "path", `.
 */
function readPromptFile(path, roots) {
    const place = placeOf(path, roots);
    if ('fault' in place)
        return place;
    try {
        const real = (0,external_node_fs_.realpathSync)(place.root);
        const file = (0,external_node_path_.join)(real, place.below);
        if ((0,external_node_fs_.realpathSync)(file) !== file) {
            return {
                fault: 'which is a symbolic link or lies behind one; takes a regular file. Commit the file itself.',
            };
        }
        const bytes = readRegular(file);
        return typeof bytes === 'string' ? { fault: bytes } : decode(bytes);
    }
    catch (thrown) {
        return { fault: faultOf(thrown) };
    }
}
function placeOf(path, roots) {
    if (path.includes('\0'))
        return { fault: 'which has a NUL character; takes the path of a file.' };
    const whole = (0,external_node_path_.resolve)(roots.workspace, path);
    const inside = [roots.workspace, roots.temp]
        .filter((root) => root !== '')
        .flatMap((root) => [root, realPath(root)])
        .map((root) => ({ root, below: (0,external_node_path_.relative)(root, whole) }))
        .find(({ below }) => below !== '' && below.split(external_node_path_.sep)[0] !== '..' && !(0,external_node_path_.isAbsolute)(below));
    if (inside === undefined) {
        return {
            fault: "which lies outside of the workspace and the runner's temp folder; takes a file inside. " +
                'Copy it to ${{ runner.temp }} first.',
        };
    }
    if (inside.below.split(external_node_path_.sep).some(isPrivate)) {
        return {
            fault: 'which is a place where git keeps its own files, credentials among them; takes any other file.',
        };
    }
    return inside;
}
/** A folder by its real name, by which a path may call it too. */
function realPath(folder) {
    try {
        return (0,external_node_fs_.realpathSync)(folder);
    }
    catch {
        return folder; // It does not exist: told when the file is opened.
    }
}
/**
 * `.git`, in any spelling that Windows and macOS take for it; and the files that actions/checkout from v6 on keeps
 * its token in, in the temp folder (actions/checkout, src/git-auth-helper.ts), also by the short name of Windows.
 */
function isPrivate(segment) {
    const seen = segment.replace(/\p{Cf}/gu, ''); // HFS+ passes over these.
    return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/i.test(seen) || /^git-cr(?:edentials-|~\d)/i.test(seen);
}
/** Reads a regular file of 1 byte to 1 MiB, or tells what is wrong with it. */
function readRegular(file) {
    // O_NONBLOCK: opening a FIFO for reading would wait for a writer. Both flags are missing on Windows.
    const descriptor = (0,external_node_fs_.openSync)(file, external_node_fs_.constants.O_RDONLY | (external_node_fs_.constants.O_NOFOLLOW ?? 0) | (external_node_fs_.constants.O_NONBLOCK ?? 0));
    try {
        if (!(0,external_node_fs_.fstatSync)(descriptor).isFile())
            return 'which is no regular file; takes a text file.';
        // The size is what is read, not what the file system says: /proc says 0.
        const bytes = Buffer.alloc(FILE_LIMIT + 1);
        let length = 0;
        for (let read = -1; read !== 0 && length < bytes.length; length += read) {
            read = (0,external_node_fs_.readSync)(descriptor, bytes, length, bytes.length - length, null);
        }
        if (length > FILE_LIMIT)
            return 'which is larger than 1 MiB (1,048,576 bytes); shorten it.';
        return bytes.subarray(0, length);
    }
    finally {
        (0,external_node_fs_.closeSync)(descriptor);
    }
}
function decode(bytes) {
    try {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
        return text === '' ? { fault: 'which is empty; write the instruction into it.' } : { text };
    }
    catch {
        return { fault: 'which is not valid UTF-8; save it as UTF-8.' };
    }
}
function faultOf(thrown) {
    const reason = thrown.code;
    switch (reason) {
        case 'ENOENT':
        case 'ENOTDIR':
            return 'which does not exist; check the path, and that actions/checkout ran before this step.';
        case 'ELOOP':
            return 'which is a symbolic link or lies behind one; takes a regular file. Commit the file itself.';
        case 'EACCES':
        case 'EPERM':
            return 'which may not be read; check its permissions.';
        default:
            return `which can't be read (${String(reason ?? thrown)}); takes a text file.`;
    }
}
//# sourceMappingURL=files.js.map
;// CONCATENATED MODULE: ./build/src/duration.js
/** Lengths of time as a reader says them. */
/** `850 ms`, `4 s`, `3 min 20 s`, `2 h 5 min`: what has passed in full. */
function duration(milliseconds) {
    if (!(milliseconds < 3.6e9))
        return 'over 1,000 h';
    if (milliseconds < 1000)
        return `${Math.floor(milliseconds)} ms`;
    const seconds = Math.floor(milliseconds / 1000);
    if (seconds < 60)
        return `${seconds} s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60)
        return parts([minutes, 'min'], [seconds % 60, 's']);
    return parts([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min']);
}
function parts(...amounts) {
    return amounts
        .filter(([amount]) => amount > 0)
        .map(([amount, unit]) => `${amount} ${unit}`)
        .join(' ');
}
//# sourceMappingURL=duration.js.map
// EXTERNAL MODULE: ./build/src/numbers.js
var numbers = __nccwpck_require__(267);
;// CONCATENATED MODULE: ./build/src/report.js
/** What later steps and a reader of the log are told: outputs, log lines, the one annotation. Pure. */




/** The output `job` is left out when it is larger, in bytes. */
const JOB_LIMIT = 256 * 1024;
/** Every output. */
const OUTPUTS = (/* unused pure expression or super */ null && ([
    'job-id',
    'status',
    'pr-link',
    'pr-number',
    'pr-repository',
    'outcome',
    'error-code',
    'reused',
    'elapsed-seconds',
    'job',
]));
/** The outputs as far as they are known; those that tell of the end are set with it. */
function outputs(progress, end, redact) {
    const link = progress.job?.link ?? '';
    const { number, repository } = (0,src_job/* pullRequestOf */._n)(link);
    return {
        'job-id': redact(progress.jobId),
        status: progress.status ?? '',
        'pr-link': link,
        'pr-number': number,
        'pr-repository': repository,
        reused: String(progress.reused && !(progress.job === undefined && end?.error?.code === 'not-found')),
        ...(end && {
            outcome: end.outcome,
            'error-code': end.error?.code ?? '',
            'elapsed-seconds': String(Math.floor(progress.elapsedMs() / 1000)),
        }),
        job: jobJson(progress.job?.received, redact),
    };
}
/** The job as JSON, the key replaced; empty where it is too large, or nested too deep to be written. */
function jobJson(received, redact) {
    if (received === undefined)
        return '';
    try {
        const whole = JSON.stringify(received);
        if (whole.length > JOB_LIMIT)
            return ''; // Before a long text is copied again and again.
        const json = redact(whole);
        JSON.parse(json);
        return Buffer.byteLength(json) <= JOB_LIMIT ? json : '';
    }
    catch {
        return '';
    }
}
/** The line at the start: what is sent, where, how long the prompt is. */
function startLine({ task, projectId, baseUrl, dryRun }) {
    const place = `in project ${(0,src_escape/* quote */.hD)(projectId)} at ${(0,src_escape/* oneLine */.TN)(baseUrl)}`;
    const dry = dryRun ? 'Dry run of: ' : '';
    switch (task.kind) {
        case 'create':
            return `${dry}Creating a job ${place}, with a prompt of ${size(task.prompt)}.`;
        case 'message':
            return `${dry}Sending a message of ${size(task.prompt)} to job ${(0,src_escape/* quote */.hD)(task.jobId)} ${place}.`;
        case 'attach':
            return `${dry}Looking at job ${(0,src_escape/* quote */.hD)(task.jobId)} ${place}; nothing is sent to it.`;
    }
}
function size(text) {
    return `${(0,numbers/* grouped */.z)(text.length)} characters (${(0,numbers/* grouped */.z)(Buffer.byteLength(text))} bytes)`;
}
/** The line at each change of state. */
function stateLine(progress) {
    const { jobId, status, job } = progress;
    const link = job?.link ? `, pull request ${job.link}` : '';
    return `Job ${(0,src_escape/* quote */.hD)(jobId)} is ${status ?? 'there'} after ${duration(progress.elapsedMs())}${link}.`;
}
/** The line once a minute. */
function heartbeatLine(progress) {
    const elapsed = duration(progress.elapsedMs());
    const { jobId, status, job, taken, sending } = progress;
    if (!taken)
        return `${sending ? 'Waiting for an answer' : 'Still trying'} after ${elapsed}.`;
    if (job === undefined)
        return `No state of job ${(0,src_escape/* quote */.hD)(jobId)} yet after ${elapsed}.`;
    return `Job ${(0,src_escape/* quote */.hD)(jobId)} is still ${status ?? 'there'} after ${elapsed}.`;
}
/** The line at the end. */
function endLine(progress, { outcome, error }) {
    const code = error === undefined ? '' : ` (${error.code})`;
    return `Ended after ${duration(progress.elapsedMs())}: ${outcome}${code}.`;
}
function annotation(progress, end, failOn) {
    const isInput = end.error?.code === 'input'; // Its lines say what to do, one by one.
    const text = isInput
        ? told(progress, end)
        : `${told(progress, end)} ${nextStep(progress, end, src_escape/* quote */.hD)}`.trim();
    if ((0,src_job/* failsStep */.ug)(end.outcome, failOn))
        return { level: 'error', text };
    const link = progress.job?.link ?? '';
    if (link === '')
        return { level: 'log', text };
    const notice = { level: 'notice', text: `Pull request: ${link}` };
    return end.outcome === 'pr-opened' ? notice : { ...notice, log: text };
}
/** What happened, in a sentence. */
function told(progress, { outcome, error, reason }) {
    const link = progress.job?.link ? ` Its pull request: ${progress.job.link}.` : '';
    const job = `Job ${(0,src_escape/* quote */.hD)(progress.jobId)}`;
    switch (outcome) {
        case 'error':
            return error?.message ?? '';
        case 'cancelled':
            return `The step was cancelled. ${error?.message ?? ''}`.trim();
        case 'timed-out':
            return `${job} has not ended after ${duration(progress.elapsedMs())}.${link}`;
        case 'failed':
            return `${job} failed.${link}`;
        case 'archived':
            return `${job} was archived.${link}`;
        case 'no-changes':
            return `${job} completed without a pull request: the agent changed no files.`;
        case 'pr-opened':
            return `${job} completed.${link}`;
        case 'started':
            return `${job} goes on; this step did not wait for its end.`;
        case 'dry-run':
            return 'Nothing was sent.';
        case 'skipped':
            return reason === undefined ? 'Nothing was sent.' : `Nothing was sent: ${reason}.`;
    }
}
/**
 * What to do now.
 *
 * @param show makes text from outside fit for where this is read
 */
function nextStep(progress, { outcome, error }, show) {
    const goOn = `A step with ${show(`job-id: ${progress.jobId}`)} and no prompt picks it up.`;
    switch (outcome) {
        case 'error':
            return !progress.taken || error?.code === 'not-found'
                ? (error?.advice ?? '')
                : `${error?.advice} The job may go on. ${goOn}`;
        case 'cancelled':
            if (error !== undefined)
                return error.advice;
            return !progress.taken
                ? 'The service took nothing.'
                : `Job ${show(progress.jobId)} goes on at the service. ${goOn}`;
        case 'timed-out':
            return `It goes on at the service. ${goOn} To wait longer next time, raise timeout-minutes.`;
        case 'started':
            return goOn;
        case 'failed':
            return ("The service's dashboard says why. Run it again for a new job, or send this one a message: " +
                `a step with ${show(`job-id: ${progress.jobId}`)} and a prompt.`);
        case 'archived':
            return 'Nothing more comes of it. Run it again for a new job.';
        case 'no-changes':
            return 'If you expected changes, name the pages and the change in the prompt, and run it again.';
        case 'pr-opened':
            return 'Review the pull request, then merge it.';
        case 'dry-run':
            return 'Take out dry-run to send it.';
        case 'skipped':
            return 'Nothing.';
    }
}
//# sourceMappingURL=report.js.map
// EXTERNAL MODULE: ./build/src/service/retry.js
var retry = __nccwpck_require__(207);
;// CONCATENATED MODULE: ./build/src/send.js
/** Sends a create or a message until it is taken, and never again once it may have been. */



/**
 * Sends it, again only where `judgePost` proves that it was not taken.
 *
 * @returns the job as the service answered; undefined for a message that was taken without a readable job.
 * @throws ActionError where it is refused, where its time is over, or where what became of it is unknown.
 * @throws Cancelled
 */
async function send(post, prompt, service, ports) {
    const { clock, stop, log, progress, publish } = ports;
    const startedAt = clock.now();
    let answered = false;
    let last;
    for (let tries = 1;; tries++) {
        progress.sending = true;
        publish();
        const reply = await request(post, prompt, service);
        progress.sending = false;
        const verdict = (0,retry/* judgePost */._j)(post, reply, clock.date());
        if (verdict.next === 'taken')
            return verdict.job;
        if (stop.cancelled())
            throw new errors/* Cancelled */.cJ(verdict.next === 'again' ? undefined : verdict.unknown);
        if (verdict.next === 'fail')
            throw verdict.error;
        if (verdict.next === 'stopped')
            throw verdict.unknown ?? last?.error ?? noTime();
        last = verdict;
        answered ||= verdict.answered;
        const left = answered
            ? stop.remainingMs()
            : Math.min(stop.remainingMs(), startedAt + retry/* UNREACHABLE_MS */.IU - clock.now());
        const { least, wait } = (0,retry/* delay */.cb)(verdict.pause, tries, ports.random());
        if (least >= left)
            throw outOfTime(verdict, tries, least);
        const pause = wait < left ? wait : least;
        log(`${verdict.error.message} Trying again in ${duration(pause)}.`);
        publish();
        await clock.sleep(pause, stop.signal);
        if (stop.cancelled())
            throw new errors/* Cancelled */.cJ();
        if (stop.signal.aborted)
            throw outOfTime(verdict, tries, least);
    }
}
/** One try. Whatever is thrown on the way, the request may have left. */
async function request(post, prompt, service) {
    try {
        return await (post.kind === 'create' ? service.create(prompt) : service.message(post.jobId, prompt));
    }
    catch (thrown) {
        throw (0,retry/* unknownFate */.hj)(post, 'the action itself failed on the way', thrown);
    }
}
function outOfTime({ error, pause }, tries, least) {
    const why = pause.retryAfterMs === undefined
        ? `Tried ${tries} ${tries === 1 ? 'time' : 'times'}.`
        : `It asks to wait ${duration(least)}, which is longer than the step has left.`;
    return new errors/* ActionError */.lZ(error.code, `${error.message} ${why}`, error.advice, { cause: error.cause });
}
function noTime() {
    return new errors/* ActionError */.lZ('network', 'The time was over before there was a connection to the service. Nothing was sent.', 'Check base-url, the proxy variables and the network, or raise timeout-minutes.');
}
//# sourceMappingURL=send.js.map
// EXTERNAL MODULE: ./build/src/wait.js
var wait = __nccwpck_require__(2668);
;// CONCATENATED MODULE: ./build/src/run.js
/** The story of a run: create, message or attach, then follow the job to its end. */




/** Runs the task to its end. Never throws. */
async function run(inputs, service, ports) {
    try {
        const after = await run_submit(inputs, service, ports);
        if (ports.stop.cancelled())
            throw new errors/* Cancelled */.cJ();
        if (!inputs.wait && after.kind !== 'nothing')
            return { outcome: outcomeUnwaited(after.kind, ports.progress) };
        const { pollIntervalMs, timeoutMs } = inputs;
        const jobId = ports.progress.jobId;
        const end = await (0,wait/* follow */.e6)({ jobId, after, once: !inputs.wait, pollIntervalMs, timeoutMs }, service, ports);
        switch (end.kind) {
            case 'ended':
                return { outcome: (0,src_job/* outcomeOf */.sG)(end.status, ports.progress.job?.link ?? '') };
            case 'active':
                return { outcome: 'started' };
            case 'deadline':
                return { outcome: 'timed-out' };
        }
    }
    catch (thrown) {
        return endOf(thrown);
    }
}
/** Creates or messages the job, or only says which one it is; what is known then is told at once. */
async function run_submit({ task, wait }, service, ports) {
    switch (task.kind) {
        case 'create':
            return create(task.prompt, service, ports);
        case 'message':
            try {
                return await message(task, wait, service, ports);
            }
            catch (thrown) {
                if (!task.orCreate || !(thrown instanceof errors/* ActionError */.lZ) || thrown.code !== 'not-found')
                    throw thrown;
                ports.log('The job of the last run is gone: creating a new one.');
                ports.progress.jobId = '';
                return create(task.prompt, service, ports);
            }
        case 'attach':
            ports.progress.reused = true;
            ports.publish();
            return { kind: 'nothing' };
    }
}
async function create(prompt, service, ports) {
    await ports.place();
    const job = await send({ kind: 'create' }, prompt, service, ports);
    if (job !== undefined)
        ports.see(job);
    return { kind: 'create', at: ports.clock.now() };
}
async function message(task, wait, service, ports) {
    const answer = await send({ kind: 'message', jobId: task.jobId }, task.prompt, service, ports);
    const mayBeStale = (0,src_job/* hasEnded */.hY)(answer?.status);
    ports.progress.reused = true;
    // An end in this answer may be the one from before the message: told only where nothing is looked at after it.
    if (answer === undefined || (wait && mayBeStale))
        ports.publish();
    else
        ports.see(answer);
    return { kind: 'message', at: ports.clock.now(), answer: mayBeStale ? answer : (task.before ?? answer) };
}
/** A job that was only just created may have ended already; after a message, an end may be the one from before. */
function outcomeUnwaited(kind, { job }) {
    return kind === 'create' && (0,src_job/* hasEnded */.hY)(job?.status) ? (0,src_job/* outcomeOf */.sG)(job.status, job.link) : 'started';
}
/** What a run that threw ends as. */
function endOf(thrown) {
    if (thrown instanceof errors/* Cancelled */.cJ) {
        return thrown.unknown === undefined
            ? { outcome: 'cancelled' }
            : { outcome: 'cancelled', error: thrown.unknown };
    }
    return { outcome: 'error', error: thrown instanceof errors/* ActionError */.lZ ? thrown : (0,errors/* internalError */.WB)(thrown) };
}
//# sourceMappingURL=run.js.map
// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __nccwpck_require__(7598);
;// CONCATENATED MODULE: external "node:timers/promises"
const promises_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:timers/promises");
// EXTERNAL MODULE: external "os"
var external_os_ = __nccwpck_require__(857);
;// CONCATENATED MODULE: ./node_modules/@actions/core/lib/utils.js
// We use any as a valid input type
/* eslint-disable @typescript-eslint/no-explicit-any */
/**
 * Sanitizes an input into a string so it can be passed into issueCommand safely
 * @param input input to sanitize into a string
 */
function utils_toCommandValue(input) {
    if (input === null || input === undefined) {
        return '';
    }
    else if (typeof input === 'string' || input instanceof String) {
        return input;
    }
    return JSON.stringify(input);
}
/**
 *
 * @param annotationProperties
 * @returns The command properties to send with the actual annotation command
 * See IssueCommandProperties: https://github.com/actions/runner/blob/main/src/Runner.Worker/ActionCommandManager.cs#L646
 */
function toCommandProperties(annotationProperties) {
    if (!Object.keys(annotationProperties).length) {
        return {};
    }
    return {
        title: annotationProperties.title,
        file: annotationProperties.file,
        line: annotationProperties.startLine,
        endLine: annotationProperties.endLine,
        col: annotationProperties.startColumn,
        endColumn: annotationProperties.endColumn
    };
}
//# sourceMappingURL=utils.js.map
;// CONCATENATED MODULE: ./node_modules/@actions/core/lib/command.js


/**
 * Issues a command to the GitHub Actions runner
 *
 * @param command - The command name to issue
 * @param properties - Additional properties for the command (key-value pairs)
 * @param message - The message to include with the command
 * @remarks
 * This function outputs a specially formatted string to stdout that the Actions
 * runner interprets as a command. These commands can control workflow behavior,
 * set outputs, create annotations, mask values, and more.
 *
 * Command Format:
 *   ::name key=value,key=value::message
 *
 * @example
 * ```typescript
 * // Issue a warning annotation
 * issueCommand('warning', {}, 'This is a warning message');
 * // Output: ::warning::This is a warning message
 *
 * // Set an environment variable
 * issueCommand('set-env', { name: 'MY_VAR' }, 'some value');
 * // Output: ::set-env name=MY_VAR::some value
 *
 * // Add a secret mask
 * issueCommand('add-mask', {}, 'secretValue123');
 * // Output: ::add-mask::secretValue123
 * ```
 *
 * @internal
 * This is an internal utility function that powers the public API functions
 * such as setSecret, warning, error, and exportVariable.
 */
function command_issueCommand(command, properties, message) {
    const cmd = new Command(command, properties, message);
    process.stdout.write(cmd.toString() + external_os_.EOL);
}
function command_issue(name, message = '') {
    command_issueCommand(name, {}, message);
}
const CMD_STRING = '::';
class Command {
    constructor(command, properties, message) {
        if (!command) {
            command = 'missing.command';
        }
        this.command = command;
        this.properties = properties;
        this.message = message;
    }
    toString() {
        let cmdStr = CMD_STRING + this.command;
        if (this.properties && Object.keys(this.properties).length > 0) {
            cmdStr += ' ';
            let first = true;
            for (const key in this.properties) {
                if (this.properties.hasOwnProperty(key)) {
                    const val = this.properties[key];
                    if (val) {
                        if (first) {
                            first = false;
                        }
                        else {
                            cmdStr += ',';
                        }
                        cmdStr += `${key}=${escapeProperty(val)}`;
                    }
                }
            }
        }
        cmdStr += `${CMD_STRING}${escapeData(this.message)}`;
        return cmdStr;
    }
}
function escapeData(s) {
    return utils_toCommandValue(s)
        .replace(/%/g, '%25')
        .replace(/\r/g, '%0D')
        .replace(/\n/g, '%0A');
}
function escapeProperty(s) {
    return utils_toCommandValue(s)
        .replace(/%/g, '%25')
        .replace(/\r/g, '%0D')
        .replace(/\n/g, '%0A')
        .replace(/:/g, '%3A')
        .replace(/,/g, '%2C');
}
//# sourceMappingURL=command.js.map
;// CONCATENATED MODULE: external "crypto"
const external_crypto_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("crypto");
// EXTERNAL MODULE: external "fs"
var external_fs_ = __nccwpck_require__(9896);
;// CONCATENATED MODULE: ./node_modules/@actions/core/lib/file-command.js
// For internal use, subject to change.
// We use any as a valid input type
/* eslint-disable @typescript-eslint/no-explicit-any */




function file_command_issueFileCommand(command, message) {
    const filePath = process.env[`GITHUB_${command}`];
    if (!filePath) {
        throw new Error(`Unable to find environment variable for file command ${command}`);
    }
    if (!external_fs_.existsSync(filePath)) {
        throw new Error(`Missing file at path: ${filePath}`);
    }
    external_fs_.appendFileSync(filePath, `${utils_toCommandValue(message)}${external_os_.EOL}`, {
        encoding: 'utf8'
    });
}
function file_command_prepareKeyValueMessage(key, value) {
    const delimiter = `ghadelimiter_${external_crypto_namespaceObject.randomUUID()}`;
    const convertedValue = utils_toCommandValue(value);
    // These should realistically never happen, but just in case someone finds a
    // way to exploit uuid generation let's not allow keys or values that contain
    // the delimiter.
    if (key.includes(delimiter)) {
        throw new Error(`Unexpected input: name should not contain the delimiter "${delimiter}"`);
    }
    if (convertedValue.includes(delimiter)) {
        throw new Error(`Unexpected input: value should not contain the delimiter "${delimiter}"`);
    }
    return `${key}<<${delimiter}${external_os_.EOL}${convertedValue}${external_os_.EOL}${delimiter}`;
}
//# sourceMappingURL=file-command.js.map
;// CONCATENATED MODULE: external "path"
const external_path_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("path");
;// CONCATENATED MODULE: ./node_modules/@actions/http-client/lib/auth.js
var __awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};
class BasicCredentialHandler {
    constructor(username, password) {
        this.username = username;
        this.password = password;
    }
    prepareRequest(options) {
        if (!options.headers) {
            throw Error('The request has no headers');
        }
        options.headers['Authorization'] = `Basic ${Buffer.from(`${this.username}:${this.password}`).toString('base64')}`;
    }
    // This handler cannot handle 401
    canHandleAuthentication() {
        return false;
    }
    handleAuthentication() {
        return __awaiter(this, void 0, void 0, function* () {
            throw new Error('not implemented');
        });
    }
}
class auth_BearerCredentialHandler {
    constructor(token) {
        this.token = token;
    }
    // currently implements pre-authorization
    // TODO: support preAuth = false where it hooks on 401
    prepareRequest(options) {
        if (!options.headers) {
            throw Error('The request has no headers');
        }
        options.headers['Authorization'] = `Bearer ${this.token}`;
    }
    // This handler cannot handle 401
    canHandleAuthentication() {
        return false;
    }
    handleAuthentication() {
        return __awaiter(this, void 0, void 0, function* () {
            throw new Error('not implemented');
        });
    }
}
class PersonalAccessTokenCredentialHandler {
    constructor(token) {
        this.token = token;
    }
    // currently implements pre-authorization
    // TODO: support preAuth = false where it hooks on 401
    prepareRequest(options) {
        if (!options.headers) {
            throw Error('The request has no headers');
        }
        options.headers['Authorization'] = `Basic ${Buffer.from(`PAT:${this.token}`).toString('base64')}`;
    }
    // This handler cannot handle 401
    canHandleAuthentication() {
        return false;
    }
    handleAuthentication() {
        return __awaiter(this, void 0, void 0, function* () {
            throw new Error('not implemented');
        });
    }
}
//# sourceMappingURL=auth.js.map
;// CONCATENATED MODULE: ./node_modules/@actions/core/lib/oidc-utils.js
var oidc_utils_awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};



class oidc_utils_OidcClient {
    static createHttpClient(allowRetry = true, maxRetry = 10) {
        const requestOptions = {
            allowRetries: allowRetry,
            maxRetries: maxRetry
        };
        return new HttpClient('actions/oidc-client', [new BearerCredentialHandler(oidc_utils_OidcClient.getRequestToken())], requestOptions);
    }
    static getRequestToken() {
        const token = process.env['ACTIONS_ID_TOKEN_REQUEST_TOKEN'];
        if (!token) {
            throw new Error('Unable to get ACTIONS_ID_TOKEN_REQUEST_TOKEN env variable');
        }
        return token;
    }
    static getIDTokenUrl() {
        const runtimeUrl = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'];
        if (!runtimeUrl) {
            throw new Error('Unable to get ACTIONS_ID_TOKEN_REQUEST_URL env variable');
        }
        return runtimeUrl;
    }
    static getCall(id_token_url) {
        return oidc_utils_awaiter(this, void 0, void 0, function* () {
            var _a;
            const httpclient = oidc_utils_OidcClient.createHttpClient();
            const res = yield httpclient
                .getJson(id_token_url)
                .catch(error => {
                throw new Error(`Failed to get ID Token. \n 
        Error Code : ${error.statusCode}\n 
        Error Message: ${error.message}`);
            });
            const id_token = (_a = res.result) === null || _a === void 0 ? void 0 : _a.value;
            if (!id_token) {
                throw new Error('Response json body do not have ID Token field');
            }
            return id_token;
        });
    }
    static getIDToken(audience) {
        return oidc_utils_awaiter(this, void 0, void 0, function* () {
            try {
                // New ID Token is requested from action service
                let id_token_url = oidc_utils_OidcClient.getIDTokenUrl();
                if (audience) {
                    const encodedAudience = encodeURIComponent(audience);
                    id_token_url = `${id_token_url}&audience=${encodedAudience}`;
                }
                debug(`ID token url is ${id_token_url}`);
                const id_token = yield oidc_utils_OidcClient.getCall(id_token_url);
                setSecret(id_token);
                return id_token;
            }
            catch (error) {
                throw new Error(`Error message: ${error.message}`);
            }
        });
    }
}
//# sourceMappingURL=oidc-utils.js.map
;// CONCATENATED MODULE: ./node_modules/@actions/core/lib/summary.js
var summary_awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};


const { access, appendFile, writeFile } = external_fs_.promises;
const SUMMARY_ENV_VAR = 'GITHUB_STEP_SUMMARY';
const SUMMARY_DOCS_URL = 'https://docs.github.com/actions/using-workflows/workflow-commands-for-github-actions#adding-a-job-summary';
class Summary {
    constructor() {
        this._buffer = '';
    }
    /**
     * Finds the summary file path from the environment, rejects if env var is not found or file does not exist
     * Also checks r/w permissions.
     *
     * @returns step summary file path
     */
    filePath() {
        return summary_awaiter(this, void 0, void 0, function* () {
            if (this._filePath) {
                return this._filePath;
            }
            const pathFromEnv = process.env[SUMMARY_ENV_VAR];
            if (!pathFromEnv) {
                throw new Error(`Unable to find environment variable for $${SUMMARY_ENV_VAR}. Check if your runtime environment supports job summaries.`);
            }
            try {
                yield access(pathFromEnv, external_fs_.constants.R_OK | external_fs_.constants.W_OK);
            }
            catch (_a) {
                throw new Error(`Unable to access summary file: '${pathFromEnv}'. Check if the file has correct read/write permissions.`);
            }
            this._filePath = pathFromEnv;
            return this._filePath;
        });
    }
    /**
     * Wraps content in an HTML tag, adding any HTML attributes
     *
     * @param {string} tag HTML tag to wrap
     * @param {string | null} content content within the tag
     * @param {[attribute: string]: string} attrs key-value list of HTML attributes to add
     *
     * @returns {string} content wrapped in HTML element
     */
    wrap(tag, content, attrs = {}) {
        const htmlAttrs = Object.entries(attrs)
            .map(([key, value]) => ` ${key}="${value}"`)
            .join('');
        if (!content) {
            return `<${tag}${htmlAttrs}>`;
        }
        return `<${tag}${htmlAttrs}>${content}</${tag}>`;
    }
    /**
     * Writes text in the buffer to the summary buffer file and empties buffer. Will append by default.
     *
     * @param {SummaryWriteOptions} [options] (optional) options for write operation
     *
     * @returns {Promise<Summary>} summary instance
     */
    write(options) {
        return summary_awaiter(this, void 0, void 0, function* () {
            const overwrite = !!(options === null || options === void 0 ? void 0 : options.overwrite);
            const filePath = yield this.filePath();
            const writeFunc = overwrite ? writeFile : appendFile;
            yield writeFunc(filePath, this._buffer, { encoding: 'utf8' });
            return this.emptyBuffer();
        });
    }
    /**
     * Clears the summary buffer and wipes the summary file
     *
     * @returns {Summary} summary instance
     */
    clear() {
        return summary_awaiter(this, void 0, void 0, function* () {
            return this.emptyBuffer().write({ overwrite: true });
        });
    }
    /**
     * Returns the current summary buffer as a string
     *
     * @returns {string} string of summary buffer
     */
    stringify() {
        return this._buffer;
    }
    /**
     * If the summary buffer is empty
     *
     * @returns {boolen} true if the buffer is empty
     */
    isEmptyBuffer() {
        return this._buffer.length === 0;
    }
    /**
     * Resets the summary buffer without writing to summary file
     *
     * @returns {Summary} summary instance
     */
    emptyBuffer() {
        this._buffer = '';
        return this;
    }
    /**
     * Adds raw text to the summary buffer
     *
     * @param {string} text content to add
     * @param {boolean} [addEOL=false] (optional) append an EOL to the raw text (default: false)
     *
     * @returns {Summary} summary instance
     */
    addRaw(text, addEOL = false) {
        this._buffer += text;
        return addEOL ? this.addEOL() : this;
    }
    /**
     * Adds the operating system-specific end-of-line marker to the buffer
     *
     * @returns {Summary} summary instance
     */
    addEOL() {
        return this.addRaw(external_os_.EOL);
    }
    /**
     * Adds an HTML codeblock to the summary buffer
     *
     * @param {string} code content to render within fenced code block
     * @param {string} lang (optional) language to syntax highlight code
     *
     * @returns {Summary} summary instance
     */
    addCodeBlock(code, lang) {
        const attrs = Object.assign({}, (lang && { lang }));
        const element = this.wrap('pre', this.wrap('code', code), attrs);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML list to the summary buffer
     *
     * @param {string[]} items list of items to render
     * @param {boolean} [ordered=false] (optional) if the rendered list should be ordered or not (default: false)
     *
     * @returns {Summary} summary instance
     */
    addList(items, ordered = false) {
        const tag = ordered ? 'ol' : 'ul';
        const listItems = items.map(item => this.wrap('li', item)).join('');
        const element = this.wrap(tag, listItems);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML table to the summary buffer
     *
     * @param {SummaryTableCell[]} rows table rows
     *
     * @returns {Summary} summary instance
     */
    addTable(rows) {
        const tableBody = rows
            .map(row => {
            const cells = row
                .map(cell => {
                if (typeof cell === 'string') {
                    return this.wrap('td', cell);
                }
                const { header, data, colspan, rowspan } = cell;
                const tag = header ? 'th' : 'td';
                const attrs = Object.assign(Object.assign({}, (colspan && { colspan })), (rowspan && { rowspan }));
                return this.wrap(tag, data, attrs);
            })
                .join('');
            return this.wrap('tr', cells);
        })
            .join('');
        const element = this.wrap('table', tableBody);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds a collapsable HTML details element to the summary buffer
     *
     * @param {string} label text for the closed state
     * @param {string} content collapsable content
     *
     * @returns {Summary} summary instance
     */
    addDetails(label, content) {
        const element = this.wrap('details', this.wrap('summary', label) + content);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML image tag to the summary buffer
     *
     * @param {string} src path to the image you to embed
     * @param {string} alt text description of the image
     * @param {SummaryImageOptions} options (optional) addition image attributes
     *
     * @returns {Summary} summary instance
     */
    addImage(src, alt, options) {
        const { width, height } = options || {};
        const attrs = Object.assign(Object.assign({}, (width && { width })), (height && { height }));
        const element = this.wrap('img', null, Object.assign({ src, alt }, attrs));
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML section heading element
     *
     * @param {string} text heading text
     * @param {number | string} [level=1] (optional) the heading level, default: 1
     *
     * @returns {Summary} summary instance
     */
    addHeading(text, level) {
        const tag = `h${level}`;
        const allowedTag = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].includes(tag)
            ? tag
            : 'h1';
        const element = this.wrap(allowedTag, text);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML thematic break (<hr>) to the summary buffer
     *
     * @returns {Summary} summary instance
     */
    addSeparator() {
        const element = this.wrap('hr', null);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML line break (<br>) to the summary buffer
     *
     * @returns {Summary} summary instance
     */
    addBreak() {
        const element = this.wrap('br', null);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML blockquote to the summary buffer
     *
     * @param {string} text quote text
     * @param {string} cite (optional) citation url
     *
     * @returns {Summary} summary instance
     */
    addQuote(text, cite) {
        const attrs = Object.assign({}, (cite && { cite }));
        const element = this.wrap('blockquote', text, attrs);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML anchor tag to the summary buffer
     *
     * @param {string} text link text/content
     * @param {string} href hyperlink
     *
     * @returns {Summary} summary instance
     */
    addLink(text, href) {
        const element = this.wrap('a', text, { href });
        return this.addRaw(element).addEOL();
    }
}
const _summary = new Summary();
/**
 * @deprecated use `core.summary`
 */
const markdownSummary = (/* unused pure expression or super */ null && (_summary));
const summary = (/* unused pure expression or super */ null && (_summary));
//# sourceMappingURL=summary.js.map
;// CONCATENATED MODULE: ./node_modules/@actions/core/lib/path-utils.js

/**
 * toPosixPath converts the given path to the posix form. On Windows, \\ will be
 * replaced with /.
 *
 * @param pth. Path to transform.
 * @return string Posix path.
 */
function toPosixPath(pth) {
    return pth.replace(/[\\]/g, '/');
}
/**
 * toWin32Path converts the given path to the win32 form. On Linux, / will be
 * replaced with \\.
 *
 * @param pth. Path to transform.
 * @return string Win32 path.
 */
function toWin32Path(pth) {
    return pth.replace(/[/]/g, '\\');
}
/**
 * toPlatformPath converts the given path to a platform-specific path. It does
 * this by replacing instances of / and \ with the platform-specific path
 * separator.
 *
 * @param pth The path to platformize.
 * @return string The platform-specific path.
 */
function toPlatformPath(pth) {
    return pth.replace(/[/\\]/g, path.sep);
}
//# sourceMappingURL=path-utils.js.map
;// CONCATENATED MODULE: external "string_decoder"
const external_string_decoder_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("string_decoder");
;// CONCATENATED MODULE: external "events"
const external_events_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("events");
;// CONCATENATED MODULE: external "child_process"
const external_child_process_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("child_process");
;// CONCATENATED MODULE: external "assert"
const external_assert_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("assert");
;// CONCATENATED MODULE: ./node_modules/@actions/io/lib/io-util.js
var io_util_awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};


const { chmod, copyFile, lstat, mkdir, open: io_util_open, readdir, rename, rm, rmdir, stat, symlink, unlink } = external_fs_.promises;
// export const {open} = 'fs'
const IS_WINDOWS = process.platform === 'win32';
/**
 * Custom implementation of readlink to ensure Windows junctions
 * maintain trailing backslash for backward compatibility with Node.js < 24
 *
 * In Node.js 20, Windows junctions (directory symlinks) always returned paths
 * with trailing backslashes. Node.js 24 removed this behavior, which breaks
 * code that relied on this format for path operations.
 *
 * This implementation restores the Node 20 behavior by adding a trailing
 * backslash to all junction results on Windows.
 */
function readlink(fsPath) {
    return io_util_awaiter(this, void 0, void 0, function* () {
        const result = yield fs.promises.readlink(fsPath);
        // On Windows, restore Node 20 behavior: add trailing backslash to all results
        // since junctions on Windows are always directory links
        if (IS_WINDOWS && !result.endsWith('\\')) {
            return `${result}\\`;
        }
        return result;
    });
}
// See https://github.com/nodejs/node/blob/d0153aee367422d0858105abec186da4dff0a0c5/deps/uv/include/uv/win.h#L691
const UV_FS_O_EXLOCK = 0x10000000;
const READONLY = external_fs_.constants.O_RDONLY;
function exists(fsPath) {
    return io_util_awaiter(this, void 0, void 0, function* () {
        try {
            yield stat(fsPath);
        }
        catch (err) {
            if (err.code === 'ENOENT') {
                return false;
            }
            throw err;
        }
        return true;
    });
}
function isDirectory(fsPath_1) {
    return io_util_awaiter(this, arguments, void 0, function* (fsPath, useStat = false) {
        const stats = useStat ? yield stat(fsPath) : yield lstat(fsPath);
        return stats.isDirectory();
    });
}
/**
 * On OSX/Linux, true if path starts with '/'. On Windows, true for paths like:
 * \, \hello, \\hello\share, C:, and C:\hello (and corresponding alternate separator cases).
 */
function isRooted(p) {
    p = normalizeSeparators(p);
    if (!p) {
        throw new Error('isRooted() parameter "p" cannot be empty');
    }
    if (IS_WINDOWS) {
        return (p.startsWith('\\') || /^[A-Z]:/i.test(p) // e.g. \ or \hello or \\hello
        ); // e.g. C: or C:\hello
    }
    return p.startsWith('/');
}
/**
 * Best effort attempt to determine whether a file exists and is executable.
 * @param filePath    file path to check
 * @param extensions  additional file extensions to try
 * @return if file exists and is executable, returns the file path. otherwise empty string.
 */
function tryGetExecutablePath(filePath, extensions) {
    return io_util_awaiter(this, void 0, void 0, function* () {
        let stats = undefined;
        try {
            // test file exists
            stats = yield stat(filePath);
        }
        catch (err) {
            if (err.code !== 'ENOENT') {
                // eslint-disable-next-line no-console
                console.log(`Unexpected error attempting to determine if executable file exists '${filePath}': ${err}`);
            }
        }
        if (stats && stats.isFile()) {
            if (IS_WINDOWS) {
                // on Windows, test for valid extension
                const upperExt = external_path_namespaceObject.extname(filePath).toUpperCase();
                if (extensions.some(validExt => validExt.toUpperCase() === upperExt)) {
                    return filePath;
                }
            }
            else {
                if (isUnixExecutable(stats)) {
                    return filePath;
                }
            }
        }
        // try each extension
        const originalFilePath = filePath;
        for (const extension of extensions) {
            filePath = originalFilePath + extension;
            stats = undefined;
            try {
                stats = yield stat(filePath);
            }
            catch (err) {
                if (err.code !== 'ENOENT') {
                    // eslint-disable-next-line no-console
                    console.log(`Unexpected error attempting to determine if executable file exists '${filePath}': ${err}`);
                }
            }
            if (stats && stats.isFile()) {
                if (IS_WINDOWS) {
                    // preserve the case of the actual file (since an extension was appended)
                    try {
                        const directory = external_path_namespaceObject.dirname(filePath);
                        const upperName = external_path_namespaceObject.basename(filePath).toUpperCase();
                        for (const actualName of yield readdir(directory)) {
                            if (upperName === actualName.toUpperCase()) {
                                filePath = external_path_namespaceObject.join(directory, actualName);
                                break;
                            }
                        }
                    }
                    catch (err) {
                        // eslint-disable-next-line no-console
                        console.log(`Unexpected error attempting to determine the actual case of the file '${filePath}': ${err}`);
                    }
                    return filePath;
                }
                else {
                    if (isUnixExecutable(stats)) {
                        return filePath;
                    }
                }
            }
        }
        return '';
    });
}
function normalizeSeparators(p) {
    p = p || '';
    if (IS_WINDOWS) {
        // convert slashes on Windows
        p = p.replace(/\//g, '\\');
        // remove redundant slashes
        return p.replace(/\\\\+/g, '\\');
    }
    // remove redundant slashes
    return p.replace(/\/\/+/g, '/');
}
// on Mac/Linux, test the execute bit
//     R   W  X  R  W X R W X
//   256 128 64 32 16 8 4 2 1
function isUnixExecutable(stats) {
    return ((stats.mode & 1) > 0 ||
        ((stats.mode & 8) > 0 &&
            process.getgid !== undefined &&
            stats.gid === process.getgid()) ||
        ((stats.mode & 64) > 0 &&
            process.getuid !== undefined &&
            stats.uid === process.getuid()));
}
// Get the path of cmd.exe in windows
function getCmdPath() {
    var _a;
    return (_a = process.env['COMSPEC']) !== null && _a !== void 0 ? _a : `cmd.exe`;
}
//# sourceMappingURL=io-util.js.map
;// CONCATENATED MODULE: ./node_modules/@actions/io/lib/io.js
var io_awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};



/**
 * Copies a file or folder.
 * Based off of shelljs - https://github.com/shelljs/shelljs/blob/9237f66c52e5daa40458f94f9565e18e8132f5a6/src/cp.js
 *
 * @param     source    source path
 * @param     dest      destination path
 * @param     options   optional. See CopyOptions.
 */
function cp(source_1, dest_1) {
    return io_awaiter(this, arguments, void 0, function* (source, dest, options = {}) {
        const { force, recursive, copySourceDirectory } = readCopyOptions(options);
        const destStat = (yield ioUtil.exists(dest)) ? yield ioUtil.stat(dest) : null;
        // Dest is an existing file, but not forcing
        if (destStat && destStat.isFile() && !force) {
            return;
        }
        // If dest is an existing directory, should copy inside.
        const newDest = destStat && destStat.isDirectory() && copySourceDirectory
            ? path.join(dest, path.basename(source))
            : dest;
        if (!(yield ioUtil.exists(source))) {
            throw new Error(`no such file or directory: ${source}`);
        }
        const sourceStat = yield ioUtil.stat(source);
        if (sourceStat.isDirectory()) {
            if (!recursive) {
                throw new Error(`Failed to copy. ${source} is a directory, but tried to copy without recursive flag.`);
            }
            else {
                yield cpDirRecursive(source, newDest, 0, force);
            }
        }
        else {
            if (path.relative(source, newDest) === '') {
                // a file cannot be copied to itself
                throw new Error(`'${newDest}' and '${source}' are the same file`);
            }
            yield io_copyFile(source, newDest, force);
        }
    });
}
/**
 * Moves a path.
 *
 * @param     source    source path
 * @param     dest      destination path
 * @param     options   optional. See MoveOptions.
 */
function mv(source_1, dest_1) {
    return io_awaiter(this, arguments, void 0, function* (source, dest, options = {}) {
        if (yield ioUtil.exists(dest)) {
            let destExists = true;
            if (yield ioUtil.isDirectory(dest)) {
                // If dest is directory copy src into dest
                dest = path.join(dest, path.basename(source));
                destExists = yield ioUtil.exists(dest);
            }
            if (destExists) {
                if (options.force == null || options.force) {
                    yield rmRF(dest);
                }
                else {
                    throw new Error('Destination already exists');
                }
            }
        }
        yield mkdirP(path.dirname(dest));
        yield ioUtil.rename(source, dest);
    });
}
/**
 * Remove a path recursively with force
 *
 * @param inputPath path to remove
 */
function rmRF(inputPath) {
    return io_awaiter(this, void 0, void 0, function* () {
        if (ioUtil.IS_WINDOWS) {
            // Check for invalid characters
            // https://docs.microsoft.com/en-us/windows/win32/fileio/naming-a-file
            if (/[*"<>|]/.test(inputPath)) {
                throw new Error('File path must not contain `*`, `"`, `<`, `>` or `|` on Windows');
            }
        }
        try {
            // note if path does not exist, error is silent
            yield ioUtil.rm(inputPath, {
                force: true,
                maxRetries: 3,
                recursive: true,
                retryDelay: 300
            });
        }
        catch (err) {
            throw new Error(`File was unable to be removed ${err}`);
        }
    });
}
/**
 * Make a directory.  Creates the full path with folders in between
 * Will throw if it fails
 *
 * @param   fsPath        path to create
 * @returns Promise<void>
 */
function mkdirP(fsPath) {
    return io_awaiter(this, void 0, void 0, function* () {
        ok(fsPath, 'a path argument must be provided');
        yield ioUtil.mkdir(fsPath, { recursive: true });
    });
}
/**
 * Returns path of a tool had the tool actually been invoked.  Resolves via paths.
 * If you check and the tool does not exist, it will throw.
 *
 * @param     tool              name of the tool
 * @param     check             whether to check if tool exists
 * @returns   Promise<string>   path to tool
 */
function which(tool, check) {
    return io_awaiter(this, void 0, void 0, function* () {
        if (!tool) {
            throw new Error("parameter 'tool' is required");
        }
        // recursive when check=true
        if (check) {
            const result = yield which(tool, false);
            if (!result) {
                if (IS_WINDOWS) {
                    throw new Error(`Unable to locate executable file: ${tool}. Please verify either the file path exists or the file can be found within a directory specified by the PATH environment variable. Also verify the file has a valid extension for an executable file.`);
                }
                else {
                    throw new Error(`Unable to locate executable file: ${tool}. Please verify either the file path exists or the file can be found within a directory specified by the PATH environment variable. Also check the file mode to verify the file is executable.`);
                }
            }
            return result;
        }
        const matches = yield findInPath(tool);
        if (matches && matches.length > 0) {
            return matches[0];
        }
        return '';
    });
}
/**
 * Returns a list of all occurrences of the given tool on the system path.
 *
 * @returns   Promise<string[]>  the paths of the tool
 */
function findInPath(tool) {
    return io_awaiter(this, void 0, void 0, function* () {
        if (!tool) {
            throw new Error("parameter 'tool' is required");
        }
        // build the list of extensions to try
        const extensions = [];
        if (IS_WINDOWS && process.env['PATHEXT']) {
            for (const extension of process.env['PATHEXT'].split(external_path_namespaceObject.delimiter)) {
                if (extension) {
                    extensions.push(extension);
                }
            }
        }
        // if it's rooted, return it if exists. otherwise return empty.
        if (isRooted(tool)) {
            const filePath = yield tryGetExecutablePath(tool, extensions);
            if (filePath) {
                return [filePath];
            }
            return [];
        }
        // if any path separators, return empty
        if (tool.includes(external_path_namespaceObject.sep)) {
            return [];
        }
        // build the list of directories
        //
        // Note, technically "where" checks the current directory on Windows. From a toolkit perspective,
        // it feels like we should not do this. Checking the current directory seems like more of a use
        // case of a shell, and the which() function exposed by the toolkit should strive for consistency
        // across platforms.
        const directories = [];
        if (process.env.PATH) {
            for (const p of process.env.PATH.split(external_path_namespaceObject.delimiter)) {
                if (p) {
                    directories.push(p);
                }
            }
        }
        // find all matches
        const matches = [];
        for (const directory of directories) {
            const filePath = yield tryGetExecutablePath(external_path_namespaceObject.join(directory, tool), extensions);
            if (filePath) {
                matches.push(filePath);
            }
        }
        return matches;
    });
}
function readCopyOptions(options) {
    const force = options.force == null ? true : options.force;
    const recursive = Boolean(options.recursive);
    const copySourceDirectory = options.copySourceDirectory == null
        ? true
        : Boolean(options.copySourceDirectory);
    return { force, recursive, copySourceDirectory };
}
function cpDirRecursive(sourceDir, destDir, currentDepth, force) {
    return io_awaiter(this, void 0, void 0, function* () {
        // Ensure there is not a run away recursive copy
        if (currentDepth >= 255)
            return;
        currentDepth++;
        yield mkdirP(destDir);
        const files = yield ioUtil.readdir(sourceDir);
        for (const fileName of files) {
            const srcFile = `${sourceDir}/${fileName}`;
            const destFile = `${destDir}/${fileName}`;
            const srcFileStat = yield ioUtil.lstat(srcFile);
            if (srcFileStat.isDirectory()) {
                // Recurse
                yield cpDirRecursive(srcFile, destFile, currentDepth, force);
            }
            else {
                yield io_copyFile(srcFile, destFile, force);
            }
        }
        // Change the mode for the newly created directory
        yield ioUtil.chmod(destDir, (yield ioUtil.stat(sourceDir)).mode);
    });
}
// Buffered file copy
function io_copyFile(srcFile, destFile, force) {
    return io_awaiter(this, void 0, void 0, function* () {
        if ((yield ioUtil.lstat(srcFile)).isSymbolicLink()) {
            // unlink/re-link it
            try {
                yield ioUtil.lstat(destFile);
                yield ioUtil.unlink(destFile);
            }
            catch (e) {
                // Try to override file permission
                if (e.code === 'EPERM') {
                    yield ioUtil.chmod(destFile, '0666');
                    yield ioUtil.unlink(destFile);
                }
                // other errors = it doesn't exist, no work to do
            }
            // Copy over symlink
            const symlinkFull = yield ioUtil.readlink(srcFile);
            yield ioUtil.symlink(symlinkFull, destFile, ioUtil.IS_WINDOWS ? 'junction' : null);
        }
        else if (!(yield ioUtil.exists(destFile)) || force) {
            yield ioUtil.copyFile(srcFile, destFile);
        }
    });
}
//# sourceMappingURL=io.js.map
;// CONCATENATED MODULE: external "timers"
const external_timers_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("timers");
;// CONCATENATED MODULE: ./node_modules/@actions/exec/lib/toolrunner.js
var toolrunner_awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};







/* eslint-disable @typescript-eslint/unbound-method */
const toolrunner_IS_WINDOWS = process.platform === 'win32';
/*
 * Class for running command line tools. Handles quoting and arg parsing in a platform agnostic way.
 */
class ToolRunner extends external_events_namespaceObject.EventEmitter {
    constructor(toolPath, args, options) {
        super();
        if (!toolPath) {
            throw new Error("Parameter 'toolPath' cannot be null or empty.");
        }
        this.toolPath = toolPath;
        this.args = args || [];
        this.options = options || {};
    }
    _debug(message) {
        if (this.options.listeners && this.options.listeners.debug) {
            this.options.listeners.debug(message);
        }
    }
    _getCommandString(options, noPrefix) {
        const toolPath = this._getSpawnFileName();
        const args = this._getSpawnArgs(options);
        let cmd = noPrefix ? '' : '[command]'; // omit prefix when piped to a second tool
        if (toolrunner_IS_WINDOWS) {
            // Windows + cmd file
            if (this._isCmdFile()) {
                cmd += toolPath;
                for (const a of args) {
                    cmd += ` ${a}`;
                }
            }
            // Windows + verbatim
            else if (options.windowsVerbatimArguments) {
                cmd += `"${toolPath}"`;
                for (const a of args) {
                    cmd += ` ${a}`;
                }
            }
            // Windows (regular)
            else {
                cmd += this._windowsQuoteCmdArg(toolPath);
                for (const a of args) {
                    cmd += ` ${this._windowsQuoteCmdArg(a)}`;
                }
            }
        }
        else {
            // OSX/Linux - this can likely be improved with some form of quoting.
            // creating processes on Unix is fundamentally different than Windows.
            // on Unix, execvp() takes an arg array.
            cmd += toolPath;
            for (const a of args) {
                cmd += ` ${a}`;
            }
        }
        return cmd;
    }
    _processLineBuffer(data, strBuffer, onLine) {
        try {
            let s = strBuffer + data.toString();
            let n = s.indexOf(external_os_.EOL);
            while (n > -1) {
                const line = s.substring(0, n);
                onLine(line);
                // the rest of the string ...
                s = s.substring(n + external_os_.EOL.length);
                n = s.indexOf(external_os_.EOL);
            }
            return s;
        }
        catch (err) {
            // streaming lines to console is best effort.  Don't fail a build.
            this._debug(`error processing line. Failed with error ${err}`);
            return '';
        }
    }
    _getSpawnFileName() {
        if (toolrunner_IS_WINDOWS) {
            if (this._isCmdFile()) {
                return process.env['COMSPEC'] || 'cmd.exe';
            }
        }
        return this.toolPath;
    }
    _getSpawnArgs(options) {
        if (toolrunner_IS_WINDOWS) {
            if (this._isCmdFile()) {
                let argline = `/D /S /C "${this._windowsQuoteCmdArg(this.toolPath)}`;
                for (const a of this.args) {
                    argline += ' ';
                    argline += options.windowsVerbatimArguments
                        ? a
                        : this._windowsQuoteCmdArg(a);
                }
                argline += '"';
                return [argline];
            }
        }
        return this.args;
    }
    _endsWith(str, end) {
        return str.endsWith(end);
    }
    _isCmdFile() {
        const upperToolPath = this.toolPath.toUpperCase();
        return (this._endsWith(upperToolPath, '.CMD') ||
            this._endsWith(upperToolPath, '.BAT'));
    }
    _windowsQuoteCmdArg(arg) {
        // for .exe, apply the normal quoting rules that libuv applies
        if (!this._isCmdFile()) {
            return this._uvQuoteCmdArg(arg);
        }
        // otherwise apply quoting rules specific to the cmd.exe command line parser.
        // the libuv rules are generic and are not designed specifically for cmd.exe
        // command line parser.
        //
        // for a detailed description of the cmd.exe command line parser, refer to
        // http://stackoverflow.com/questions/4094699/how-does-the-windows-command-interpreter-cmd-exe-parse-scripts/7970912#7970912
        // need quotes for empty arg
        if (!arg) {
            return '""';
        }
        // determine whether the arg needs to be quoted
        const cmdSpecialChars = [
            ' ',
            '\t',
            '&',
            '(',
            ')',
            '[',
            ']',
            '{',
            '}',
            '^',
            '=',
            ';',
            '!',
            "'",
            '+',
            ',',
            '`',
            '~',
            '|',
            '<',
            '>',
            '"'
        ];
        let needsQuotes = false;
        for (const char of arg) {
            if (cmdSpecialChars.some(x => x === char)) {
                needsQuotes = true;
                break;
            }
        }
        // short-circuit if quotes not needed
        if (!needsQuotes) {
            return arg;
        }
        // the following quoting rules are very similar to the rules that by libuv applies.
        //
        // 1) wrap the string in quotes
        //
        // 2) double-up quotes - i.e. " => ""
        //
        //    this is different from the libuv quoting rules. libuv replaces " with \", which unfortunately
        //    doesn't work well with a cmd.exe command line.
        //
        //    note, replacing " with "" also works well if the arg is passed to a downstream .NET console app.
        //    for example, the command line:
        //          foo.exe "myarg:""my val"""
        //    is parsed by a .NET console app into an arg array:
        //          [ "myarg:\"my val\"" ]
        //    which is the same end result when applying libuv quoting rules. although the actual
        //    command line from libuv quoting rules would look like:
        //          foo.exe "myarg:\"my val\""
        //
        // 3) double-up slashes that precede a quote,
        //    e.g.  hello \world    => "hello \world"
        //          hello\"world    => "hello\\""world"
        //          hello\\"world   => "hello\\\\""world"
        //          hello world\    => "hello world\\"
        //
        //    technically this is not required for a cmd.exe command line, or the batch argument parser.
        //    the reasons for including this as a .cmd quoting rule are:
        //
        //    a) this is optimized for the scenario where the argument is passed from the .cmd file to an
        //       external program. many programs (e.g. .NET console apps) rely on the slash-doubling rule.
        //
        //    b) it's what we've been doing previously (by deferring to node default behavior) and we
        //       haven't heard any complaints about that aspect.
        //
        // note, a weakness of the quoting rules chosen here, is that % is not escaped. in fact, % cannot be
        // escaped when used on the command line directly - even though within a .cmd file % can be escaped
        // by using %%.
        //
        // the saving grace is, on the command line, %var% is left as-is if var is not defined. this contrasts
        // the line parsing rules within a .cmd file, where if var is not defined it is replaced with nothing.
        //
        // one option that was explored was replacing % with ^% - i.e. %var% => ^%var^%. this hack would
        // often work, since it is unlikely that var^ would exist, and the ^ character is removed when the
        // variable is used. the problem, however, is that ^ is not removed when %* is used to pass the args
        // to an external program.
        //
        // an unexplored potential solution for the % escaping problem, is to create a wrapper .cmd file.
        // % can be escaped within a .cmd file.
        let reverse = '"';
        let quoteHit = true;
        for (let i = arg.length; i > 0; i--) {
            // walk the string in reverse
            reverse += arg[i - 1];
            if (quoteHit && arg[i - 1] === '\\') {
                reverse += '\\'; // double the slash
            }
            else if (arg[i - 1] === '"') {
                quoteHit = true;
                reverse += '"'; // double the quote
            }
            else {
                quoteHit = false;
            }
        }
        reverse += '"';
        return reverse.split('').reverse().join('');
    }
    _uvQuoteCmdArg(arg) {
        // Tool runner wraps child_process.spawn() and needs to apply the same quoting as
        // Node in certain cases where the undocumented spawn option windowsVerbatimArguments
        // is used.
        //
        // Since this function is a port of quote_cmd_arg from Node 4.x (technically, lib UV,
        // see https://github.com/nodejs/node/blob/v4.x/deps/uv/src/win/process.c for details),
        // pasting copyright notice from Node within this function:
        //
        //      Copyright Joyent, Inc. and other Node contributors. All rights reserved.
        //
        //      Permission is hereby granted, free of charge, to any person obtaining a copy
        //      of this software and associated documentation files (the "Software"), to
        //      deal in the Software without restriction, including without limitation the
        //      rights to use, copy, modify, merge, publish, distribute, sublicense, and/or
        //      sell copies of the Software, and to permit persons to whom the Software is
        //      furnished to do so, subject to the following conditions:
        //
        //      The above copyright notice and this permission notice shall be included in
        //      all copies or substantial portions of the Software.
        //
        //      THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
        //      IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
        //      FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
        //      AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
        //      LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING
        //      FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS
        //      IN THE SOFTWARE.
        if (!arg) {
            // Need double quotation for empty argument
            return '""';
        }
        if (!arg.includes(' ') && !arg.includes('\t') && !arg.includes('"')) {
            // No quotation needed
            return arg;
        }
        if (!arg.includes('"') && !arg.includes('\\')) {
            // No embedded double quotes or backslashes, so I can just wrap
            // quote marks around the whole thing.
            return `"${arg}"`;
        }
        // Expected input/output:
        //   input : hello"world
        //   output: "hello\"world"
        //   input : hello""world
        //   output: "hello\"\"world"
        //   input : hello\world
        //   output: hello\world
        //   input : hello\\world
        //   output: hello\\world
        //   input : hello\"world
        //   output: "hello\\\"world"
        //   input : hello\\"world
        //   output: "hello\\\\\"world"
        //   input : hello world\
        //   output: "hello world\\" - note the comment in libuv actually reads "hello world\"
        //                             but it appears the comment is wrong, it should be "hello world\\"
        let reverse = '"';
        let quoteHit = true;
        for (let i = arg.length; i > 0; i--) {
            // walk the string in reverse
            reverse += arg[i - 1];
            if (quoteHit && arg[i - 1] === '\\') {
                reverse += '\\';
            }
            else if (arg[i - 1] === '"') {
                quoteHit = true;
                reverse += '\\';
            }
            else {
                quoteHit = false;
            }
        }
        reverse += '"';
        return reverse.split('').reverse().join('');
    }
    _cloneExecOptions(options) {
        options = options || {};
        const result = {
            cwd: options.cwd || process.cwd(),
            env: options.env || process.env,
            silent: options.silent || false,
            windowsVerbatimArguments: options.windowsVerbatimArguments || false,
            failOnStdErr: options.failOnStdErr || false,
            ignoreReturnCode: options.ignoreReturnCode || false,
            delay: options.delay || 10000
        };
        result.outStream = options.outStream || process.stdout;
        result.errStream = options.errStream || process.stderr;
        return result;
    }
    _getSpawnOptions(options, toolPath) {
        options = options || {};
        const result = {};
        result.cwd = options.cwd;
        result.env = options.env;
        result['windowsVerbatimArguments'] =
            options.windowsVerbatimArguments || this._isCmdFile();
        if (options.windowsVerbatimArguments) {
            result.argv0 = `"${toolPath}"`;
        }
        return result;
    }
    /**
     * Exec a tool.
     * Output will be streamed to the live console.
     * Returns promise with return code
     *
     * @param     tool     path to tool to exec
     * @param     options  optional exec options.  See ExecOptions
     * @returns   number
     */
    exec() {
        return toolrunner_awaiter(this, void 0, void 0, function* () {
            // root the tool path if it is unrooted and contains relative pathing
            if (!isRooted(this.toolPath) &&
                (this.toolPath.includes('/') ||
                    (toolrunner_IS_WINDOWS && this.toolPath.includes('\\')))) {
                // prefer options.cwd if it is specified, however options.cwd may also need to be rooted
                this.toolPath = external_path_namespaceObject.resolve(process.cwd(), this.options.cwd || process.cwd(), this.toolPath);
            }
            // if the tool is only a file name, then resolve it from the PATH
            // otherwise verify it exists (add extension on Windows if necessary)
            this.toolPath = yield which(this.toolPath, true);
            return new Promise((resolve, reject) => toolrunner_awaiter(this, void 0, void 0, function* () {
                this._debug(`exec tool: ${this.toolPath}`);
                this._debug('arguments:');
                for (const arg of this.args) {
                    this._debug(`   ${arg}`);
                }
                const optionsNonNull = this._cloneExecOptions(this.options);
                if (!optionsNonNull.silent && optionsNonNull.outStream) {
                    optionsNonNull.outStream.write(this._getCommandString(optionsNonNull) + external_os_.EOL);
                }
                const state = new ExecState(optionsNonNull, this.toolPath);
                state.on('debug', (message) => {
                    this._debug(message);
                });
                if (this.options.cwd && !(yield exists(this.options.cwd))) {
                    return reject(new Error(`The cwd: ${this.options.cwd} does not exist!`));
                }
                const fileName = this._getSpawnFileName();
                const cp = external_child_process_namespaceObject.spawn(fileName, this._getSpawnArgs(optionsNonNull), this._getSpawnOptions(this.options, fileName));
                let stdbuffer = '';
                if (cp.stdout) {
                    cp.stdout.on('data', (data) => {
                        if (this.options.listeners && this.options.listeners.stdout) {
                            this.options.listeners.stdout(data);
                        }
                        if (!optionsNonNull.silent && optionsNonNull.outStream) {
                            optionsNonNull.outStream.write(data);
                        }
                        stdbuffer = this._processLineBuffer(data, stdbuffer, (line) => {
                            if (this.options.listeners && this.options.listeners.stdline) {
                                this.options.listeners.stdline(line);
                            }
                        });
                    });
                }
                let errbuffer = '';
                if (cp.stderr) {
                    cp.stderr.on('data', (data) => {
                        state.processStderr = true;
                        if (this.options.listeners && this.options.listeners.stderr) {
                            this.options.listeners.stderr(data);
                        }
                        if (!optionsNonNull.silent &&
                            optionsNonNull.errStream &&
                            optionsNonNull.outStream) {
                            const s = optionsNonNull.failOnStdErr
                                ? optionsNonNull.errStream
                                : optionsNonNull.outStream;
                            s.write(data);
                        }
                        errbuffer = this._processLineBuffer(data, errbuffer, (line) => {
                            if (this.options.listeners && this.options.listeners.errline) {
                                this.options.listeners.errline(line);
                            }
                        });
                    });
                }
                cp.on('error', (err) => {
                    state.processError = err.message;
                    state.processExited = true;
                    state.processClosed = true;
                    state.CheckComplete();
                });
                cp.on('exit', (code) => {
                    state.processExitCode = code;
                    state.processExited = true;
                    this._debug(`Exit code ${code} received from tool '${this.toolPath}'`);
                    state.CheckComplete();
                });
                cp.on('close', (code) => {
                    state.processExitCode = code;
                    state.processExited = true;
                    state.processClosed = true;
                    this._debug(`STDIO streams have closed for tool '${this.toolPath}'`);
                    state.CheckComplete();
                });
                state.on('done', (error, exitCode) => {
                    if (stdbuffer.length > 0) {
                        this.emit('stdline', stdbuffer);
                    }
                    if (errbuffer.length > 0) {
                        this.emit('errline', errbuffer);
                    }
                    cp.removeAllListeners();
                    if (error) {
                        reject(error);
                    }
                    else {
                        resolve(exitCode);
                    }
                });
                if (this.options.input) {
                    if (!cp.stdin) {
                        throw new Error('child process missing stdin');
                    }
                    cp.stdin.end(this.options.input);
                }
            }));
        });
    }
}
/**
 * Convert an arg string to an array of args. Handles escaping
 *
 * @param    argString   string of arguments
 * @returns  string[]    array of arguments
 */
function argStringToArray(argString) {
    const args = [];
    let inQuotes = false;
    let escaped = false;
    let arg = '';
    function append(c) {
        // we only escape double quotes.
        if (escaped && c !== '"') {
            arg += '\\';
        }
        arg += c;
        escaped = false;
    }
    for (let i = 0; i < argString.length; i++) {
        const c = argString.charAt(i);
        if (c === '"') {
            if (!escaped) {
                inQuotes = !inQuotes;
            }
            else {
                append(c);
            }
            continue;
        }
        if (c === '\\' && escaped) {
            append(c);
            continue;
        }
        if (c === '\\' && inQuotes) {
            escaped = true;
            continue;
        }
        if (c === ' ' && !inQuotes) {
            if (arg.length > 0) {
                args.push(arg);
                arg = '';
            }
            continue;
        }
        append(c);
    }
    if (arg.length > 0) {
        args.push(arg.trim());
    }
    return args;
}
class ExecState extends external_events_namespaceObject.EventEmitter {
    constructor(options, toolPath) {
        super();
        this.processClosed = false; // tracks whether the process has exited and stdio is closed
        this.processError = '';
        this.processExitCode = 0;
        this.processExited = false; // tracks whether the process has exited
        this.processStderr = false; // tracks whether stderr was written to
        this.delay = 10000; // 10 seconds
        this.done = false;
        this.timeout = null;
        if (!toolPath) {
            throw new Error('toolPath must not be empty');
        }
        this.options = options;
        this.toolPath = toolPath;
        if (options.delay) {
            this.delay = options.delay;
        }
    }
    CheckComplete() {
        if (this.done) {
            return;
        }
        if (this.processClosed) {
            this._setResult();
        }
        else if (this.processExited) {
            this.timeout = (0,external_timers_namespaceObject.setTimeout)(ExecState.HandleTimeout, this.delay, this);
        }
    }
    _debug(message) {
        this.emit('debug', message);
    }
    _setResult() {
        // determine whether there is an error
        let error;
        if (this.processExited) {
            if (this.processError) {
                error = new Error(`There was an error when attempting to execute the process '${this.toolPath}'. This may indicate the process failed to start. Error: ${this.processError}`);
            }
            else if (this.processExitCode !== 0 && !this.options.ignoreReturnCode) {
                error = new Error(`The process '${this.toolPath}' failed with exit code ${this.processExitCode}`);
            }
            else if (this.processStderr && this.options.failOnStdErr) {
                error = new Error(`The process '${this.toolPath}' failed because one or more lines were written to the STDERR stream`);
            }
        }
        // clear the timeout
        if (this.timeout) {
            clearTimeout(this.timeout);
            this.timeout = null;
        }
        this.done = true;
        this.emit('done', error, this.processExitCode);
    }
    static HandleTimeout(state) {
        if (state.done) {
            return;
        }
        if (!state.processClosed && state.processExited) {
            const message = `The STDIO streams did not close within ${state.delay / 1000} seconds of the exit event from process '${state.toolPath}'. This may indicate a child process inherited the STDIO streams and has not yet exited.`;
            state._debug(message);
        }
        state._setResult();
    }
}
//# sourceMappingURL=toolrunner.js.map
;// CONCATENATED MODULE: ./node_modules/@actions/exec/lib/exec.js
var exec_awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};


/**
 * Exec a command.
 * Output will be streamed to the live console.
 * Returns promise with return code
 *
 * @param     commandLine        command to execute (can include additional args). Must be correctly escaped.
 * @param     args               optional arguments for tool. Escaping is handled by the lib.
 * @param     options            optional exec options.  See ExecOptions
 * @returns   Promise<number>    exit code
 */
function exec_exec(commandLine, args, options) {
    return exec_awaiter(this, void 0, void 0, function* () {
        const commandArgs = tr.argStringToArray(commandLine);
        if (commandArgs.length === 0) {
            throw new Error(`Parameter 'commandLine' cannot be null or empty.`);
        }
        // Path to tool to execute should be first arg
        const toolPath = commandArgs[0];
        args = commandArgs.slice(1).concat(args || []);
        const runner = new tr.ToolRunner(toolPath, args, options);
        return runner.exec();
    });
}
/**
 * Exec a command and get the output.
 * Output will be streamed to the live console.
 * Returns promise with the exit code and collected stdout and stderr
 *
 * @param     commandLine           command to execute (can include additional args). Must be correctly escaped.
 * @param     args                  optional arguments for tool. Escaping is handled by the lib.
 * @param     options               optional exec options.  See ExecOptions
 * @returns   Promise<ExecOutput>   exit code, stdout, and stderr
 */
function getExecOutput(commandLine, args, options) {
    return exec_awaiter(this, void 0, void 0, function* () {
        var _a, _b;
        let stdout = '';
        let stderr = '';
        //Using string decoder covers the case where a mult-byte character is split
        const stdoutDecoder = new StringDecoder('utf8');
        const stderrDecoder = new StringDecoder('utf8');
        const originalStdoutListener = (_a = options === null || options === void 0 ? void 0 : options.listeners) === null || _a === void 0 ? void 0 : _a.stdout;
        const originalStdErrListener = (_b = options === null || options === void 0 ? void 0 : options.listeners) === null || _b === void 0 ? void 0 : _b.stderr;
        const stdErrListener = (data) => {
            stderr += stderrDecoder.write(data);
            if (originalStdErrListener) {
                originalStdErrListener(data);
            }
        };
        const stdOutListener = (data) => {
            stdout += stdoutDecoder.write(data);
            if (originalStdoutListener) {
                originalStdoutListener(data);
            }
        };
        const listeners = Object.assign(Object.assign({}, options === null || options === void 0 ? void 0 : options.listeners), { stdout: stdOutListener, stderr: stdErrListener });
        const exitCode = yield exec_exec(commandLine, args, Object.assign(Object.assign({}, options), { listeners }));
        //flush any remaining characters
        stdout += stdoutDecoder.end();
        stderr += stderrDecoder.end();
        return {
            exitCode,
            stdout,
            stderr
        };
    });
}
//# sourceMappingURL=exec.js.map
;// CONCATENATED MODULE: ./node_modules/@actions/core/lib/platform.js
var platform_awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};


const getWindowsInfo = () => platform_awaiter(void 0, void 0, void 0, function* () {
    const { stdout: version } = yield exec.getExecOutput('powershell -command "(Get-CimInstance -ClassName Win32_OperatingSystem).Version"', undefined, {
        silent: true
    });
    const { stdout: name } = yield exec.getExecOutput('powershell -command "(Get-CimInstance -ClassName Win32_OperatingSystem).Caption"', undefined, {
        silent: true
    });
    return {
        name: name.trim(),
        version: version.trim()
    };
});
const getMacOsInfo = () => platform_awaiter(void 0, void 0, void 0, function* () {
    var _a, _b, _c, _d;
    const { stdout } = yield exec.getExecOutput('sw_vers', undefined, {
        silent: true
    });
    const version = (_b = (_a = stdout.match(/ProductVersion:\s*(.+)/)) === null || _a === void 0 ? void 0 : _a[1]) !== null && _b !== void 0 ? _b : '';
    const name = (_d = (_c = stdout.match(/ProductName:\s*(.+)/)) === null || _c === void 0 ? void 0 : _c[1]) !== null && _d !== void 0 ? _d : '';
    return {
        name,
        version
    };
});
const getLinuxInfo = () => platform_awaiter(void 0, void 0, void 0, function* () {
    const { stdout } = yield exec.getExecOutput('lsb_release', ['-i', '-r', '-s'], {
        silent: true
    });
    const [name, version] = stdout.trim().split('\n');
    return {
        name,
        version
    };
});
const platform = external_os_.platform();
const arch = external_os_.arch();
const isWindows = platform === 'win32';
const isMacOS = platform === 'darwin';
const isLinux = platform === 'linux';
function getDetails() {
    return platform_awaiter(this, void 0, void 0, function* () {
        return Object.assign(Object.assign({}, (yield (isWindows
            ? getWindowsInfo()
            : isMacOS
                ? getMacOsInfo()
                : getLinuxInfo()))), { platform,
            arch,
            isWindows,
            isMacOS,
            isLinux });
    });
}
//# sourceMappingURL=platform.js.map
;// CONCATENATED MODULE: ./node_modules/@actions/core/lib/core.js
var core_awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};






/**
 * The code to exit an action
 */
var ExitCode;
(function (ExitCode) {
    /**
     * A code indicating that the action was successful
     */
    ExitCode[ExitCode["Success"] = 0] = "Success";
    /**
     * A code indicating that the action was a failure
     */
    ExitCode[ExitCode["Failure"] = 1] = "Failure";
})(ExitCode || (ExitCode = {}));
//-----------------------------------------------------------------------
// Variables
//-----------------------------------------------------------------------
/**
 * Sets env variable for this action and future actions in the job
 * @param name the name of the variable to set
 * @param val the value of the variable. Non-string values will be converted to a string via JSON.stringify
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function exportVariable(name, val) {
    const convertedVal = toCommandValue(val);
    process.env[name] = convertedVal;
    const filePath = process.env['GITHUB_ENV'] || '';
    if (filePath) {
        return issueFileCommand('ENV', prepareKeyValueMessage(name, val));
    }
    issueCommand('set-env', { name }, convertedVal);
}
/**
 * Registers a secret which will get masked from logs
 *
 * @param secret - Value of the secret to be masked
 * @remarks
 * This function instructs the Actions runner to mask the specified value in any
 * logs produced during the workflow run. Once registered, the secret value will
 * be replaced with asterisks (***) whenever it appears in console output, logs,
 * or error messages.
 *
 * This is useful for protecting sensitive information such as:
 * - API keys
 * - Access tokens
 * - Authentication credentials
 * - URL parameters containing signatures (SAS tokens)
 *
 * Note that masking only affects future logs; any previous appearances of the
 * secret in logs before calling this function will remain unmasked.
 *
 * @example
 * ```typescript
 * // Register an API token as a secret
 * const apiToken = "abc123xyz456";
 * setSecret(apiToken);
 *
 * // Now any logs containing this value will show *** instead
 * console.log(`Using token: ${apiToken}`); // Outputs: "Using token: ***"
 * ```
 */
function core_setSecret(secret) {
    command_issueCommand('add-mask', {}, secret);
}
/**
 * Prepends inputPath to the PATH (for this action and future actions)
 * @param inputPath
 */
function addPath(inputPath) {
    const filePath = process.env['GITHUB_PATH'] || '';
    if (filePath) {
        issueFileCommand('PATH', inputPath);
    }
    else {
        issueCommand('add-path', {}, inputPath);
    }
    process.env['PATH'] = `${inputPath}${path.delimiter}${process.env['PATH']}`;
}
/**
 * Gets the value of an input.
 * Unless trimWhitespace is set to false in InputOptions, the value is also trimmed.
 * Returns an empty string if the value is not defined.
 *
 * @param     name     name of the input to get
 * @param     options  optional. See InputOptions.
 * @returns   string
 */
function getInput(name, options) {
    const val = process.env[`INPUT_${name.replace(/ /g, '_').toUpperCase()}`] || '';
    if (options && options.required && !val) {
        throw new Error(`Input required and not supplied: ${name}`);
    }
    if (options && options.trimWhitespace === false) {
        return val;
    }
    return val.trim();
}
/**
 * Gets the values of an multiline input.  Each value is also trimmed.
 *
 * @param     name     name of the input to get
 * @param     options  optional. See InputOptions.
 * @returns   string[]
 *
 */
function getMultilineInput(name, options) {
    const inputs = getInput(name, options)
        .split('\n')
        .filter(x => x !== '');
    if (options && options.trimWhitespace === false) {
        return inputs;
    }
    return inputs.map(input => input.trim());
}
/**
 * Gets the input value of the boolean type in the YAML 1.2 "core schema" specification.
 * Support boolean input list: `true | True | TRUE | false | False | FALSE` .
 * The return value is also in boolean type.
 * ref: https://yaml.org/spec/1.2/spec.html#id2804923
 *
 * @param     name     name of the input to get
 * @param     options  optional. See InputOptions.
 * @returns   boolean
 */
function getBooleanInput(name, options) {
    const trueValue = ['true', 'True', 'TRUE'];
    const falseValue = ['false', 'False', 'FALSE'];
    const val = getInput(name, options);
    if (trueValue.includes(val))
        return true;
    if (falseValue.includes(val))
        return false;
    throw new TypeError(`Input does not meet YAML 1.2 "Core Schema" specification: ${name}\n` +
        `Support boolean input list: \`true | True | TRUE | false | False | FALSE\``);
}
/**
 * Sets the value of an output.
 *
 * @param     name     name of the output to set
 * @param     value    value to store. Non-string values will be converted to a string via JSON.stringify
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function setOutput(name, value) {
    const filePath = process.env['GITHUB_OUTPUT'] || '';
    if (filePath) {
        return file_command_issueFileCommand('OUTPUT', file_command_prepareKeyValueMessage(name, value));
    }
    process.stdout.write(external_os_.EOL);
    command_issueCommand('set-output', { name }, utils_toCommandValue(value));
}
/**
 * Enables or disables the echoing of commands into stdout for the rest of the step.
 * Echoing is disabled by default if ACTIONS_STEP_DEBUG is not set.
 *
 */
function setCommandEcho(enabled) {
    issue('echo', enabled ? 'on' : 'off');
}
//-----------------------------------------------------------------------
// Results
//-----------------------------------------------------------------------
/**
 * Sets the action status to failed.
 * When the action exits it will be with an exit code of 1
 * @param message add error issue message
 */
function setFailed(message) {
    process.exitCode = ExitCode.Failure;
    error(message);
}
//-----------------------------------------------------------------------
// Logging Commands
//-----------------------------------------------------------------------
/**
 * Gets whether Actions Step Debug is on or not
 */
function isDebug() {
    return process.env['RUNNER_DEBUG'] === '1';
}
/**
 * Writes debug message to user log
 * @param message debug message
 */
function core_debug(message) {
    command_issueCommand('debug', {}, message);
}
/**
 * Adds an error issue
 * @param message error issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function error(message, properties = {}) {
    command_issueCommand('error', toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Adds a warning issue
 * @param message warning issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function warning(message, properties = {}) {
    command_issueCommand('warning', toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Adds a notice issue
 * @param message notice issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function notice(message, properties = {}) {
    command_issueCommand('notice', toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Writes info to log with console.log.
 * @param message info message
 */
function info(message) {
    process.stdout.write(message + external_os_.EOL);
}
/**
 * Begin an output group.
 *
 * Output until the next `groupEnd` will be foldable in this group
 *
 * @param name The name of the output group
 */
function startGroup(name) {
    command_issue('group', name);
}
/**
 * End an output group.
 */
function endGroup() {
    command_issue('endgroup');
}
/**
 * Wrap an asynchronous function call in a group.
 *
 * Returns the same type as the function itself.
 *
 * @param name The name of the group
 * @param fn The function to wrap in the group
 */
function group(name, fn) {
    return core_awaiter(this, void 0, void 0, function* () {
        startGroup(name);
        let result;
        try {
            result = yield fn();
        }
        finally {
            endGroup();
        }
        return result;
    });
}
//-----------------------------------------------------------------------
// Wrapper action state
//-----------------------------------------------------------------------
/**
 * Saves state for current action, the state can only be retrieved by this action's post job execution.
 *
 * @param     name     name of the state to store
 * @param     value    value to store. Non-string values will be converted to a string via JSON.stringify
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function saveState(name, value) {
    const filePath = process.env['GITHUB_STATE'] || '';
    if (filePath) {
        return issueFileCommand('STATE', prepareKeyValueMessage(name, value));
    }
    issueCommand('save-state', { name }, toCommandValue(value));
}
/**
 * Gets the value of an state set by this action's main execution.
 *
 * @param     name     name of the state to get
 * @returns   string
 */
function getState(name) {
    return process.env[`STATE_${name}`] || '';
}
function getIDToken(aud) {
    return core_awaiter(this, void 0, void 0, function* () {
        return yield OidcClient.getIDToken(aud);
    });
}
/**
 * Summary exports
 */

/**
 * @deprecated use core.summary
 */

/**
 * Path exports
 */

/**
 * Platform utilities exports
 */

//# sourceMappingURL=core.js.map
;// CONCATENATED MODULE: ./build/src/runner.js
/** The edge to the runner: inputs in; outputs, log, summary and annotations out; signals, clock, chance. */






/** Reads every input as the runner hands it over. */
function rawInputs() {
    const names = Object.keys(DEFAULTS);
    return Object.fromEntries(names.map((name) => [name, getInput(name)]));
}
function runEnvironment() {
    const of = (name) => process.env[name] ?? '';
    return {
        eventName: of('GITHUB_EVENT_NAME'),
        eventPath: of('GITHUB_EVENT_PATH'),
        actor: of('GITHUB_ACTOR'),
        repository: of('GITHUB_REPOSITORY'),
        ref: of('GITHUB_REF'),
        sha: of('GITHUB_SHA'),
        runId: of('GITHUB_RUN_ID'),
        runAttempt: of('GITHUB_RUN_ATTEMPT') || '1',
        workflowRef: of('GITHUB_WORKFLOW_REF'),
        job: of('GITHUB_JOB'),
        step: of('GITHUB_ACTION'),
        apiUrl: of('GITHUB_API_URL') || 'https://api.github.com',
        serverUrl: of('GITHUB_SERVER_URL') || 'https://github.com',
    };
}
/** Hides an event's file that can't be read: `@actions/github` reads it as it is loaded, and fails. */
function forgetEvent() {
    delete process.env.GITHUB_EVENT_PATH;
}
function promptRoots() {
    const { GITHUB_WORKSPACE: workspace, RUNNER_TEMP: temp } = process.env;
    return { workspace: workspace || process.cwd(), temp: temp ?? '' };
}
/** HTTP_PROXY alone stands for https too, as undici's own agent has it (undici docs, EnvHttpProxyAgent). */
function proxyVariables() {
    const names = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];
    return names.map((name) => ({ name, value: process.env[name] ?? '' }));
}
/** Tells the runner to hide a secret in every log line from now on, also where it stands percent-encoded. */
function mask(secret) {
    if (secret === '')
        return;
    core_setSecret(secret);
    const encoded = encodeURIComponent(secret);
    if (encoded !== secret)
        core_setSecret(encoded);
}
/** Everything that is written for a reader or a later step goes through here, and the key stays out of it. */
class Reporter {
    redact;
    constructor(redact) {
        this.redact = redact;
    }
    log(line) {
        info(this.#line(line));
    }
    debug(text) {
        for (const line of text.split('\n'))
            core_debug(this.#line(line));
    }
    warn(line) {
        warning(this.#line(line));
    }
    notice(line) {
        notice(this.#line(line));
    }
    /** Takes several lines; cut before the runner cuts an annotation, at 4,096 characters. */
    error(text) {
        const lines = text.split('\n').map((line) => this.#line(line));
        error((0,src_escape/* clip */.$Q)(lines.join('\n'), 4000));
    }
    /** Shows a text of many lines, each behind a bar, in a group that folds. */
    group(title, text) {
        startGroup(this.#line(title));
        for (const line of (0,src_escape/* inertLines */.wi)(this.redact(text)))
            info(line);
        endGroup();
    }
    /** Takes values without the key. */
    output(name, value) {
        setOutput(name, value);
    }
    /** Replaces the step summary; does nothing where the runner has none. */
    summary(markdown) {
        const path = process.env.GITHUB_STEP_SUMMARY;
        if (path)
            replaceFile(path, this.redact(markdown));
    }
    #line(text) {
        return (0,src_escape/* inert */.tJ)(this.redact(text));
    }
}
/** Replaces a file's text without a moment in which it is empty: the process may be killed at any time. */
function replaceFile(path, text) {
    const descriptor = (0,external_node_fs_.openSync)(path, external_node_fs_.constants.O_WRONLY | external_node_fs_.constants.O_CREAT);
    try {
        const bytes = Buffer.from(text);
        for (let written = 0; written < bytes.length;) {
            written += (0,external_node_fs_.writeSync)(descriptor, bytes, written, bytes.length - written, written);
        }
        if ((0,external_node_fs_.fstatSync)(descriptor).isFile())
            (0,external_node_fs_.ftruncateSync)(descriptor, bytes.length); // And not /dev/null.
    }
    finally {
        (0,external_node_fs_.closeSync)(descriptor);
    }
}
const clock = {
    now: () => performance.now(),
    date: () => new Date(),
    sleep: (milliseconds, signal) => (0,promises_namespaceObject.setTimeout)(milliseconds, undefined, { signal }).catch(() => undefined),
    every(milliseconds, call) {
        const timer = setInterval(call, milliseconds);
        return () => clearInterval(timer);
    },
};
/** From 0 to 1, for jitter. */
const random = () => Math.random();
/** Hexadecimal digits that nobody can guess. */
const nonce = () => (0,external_node_crypto_.randomBytes)(16).toString('hex');
function catchSignals() {
    const first = new AbortController();
    const second = new AbortController();
    const onSignal = () => (first.signal.aborted ? second : first).abort();
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    process.on('SIGBREAK', onSignal);
    return { first: first.signal, second: second.signal };
}
/**
 * Calls for exceptions that nothing caught, in place of Node's own end with a stack trace. From now on the process ends
 * as a failure, unless `exit` says otherwise.
 */
function catchFaults(call) {
    process.exitCode = 1;
    process.stdout.on('error', () => undefined); // A log that nobody reads any more is no fault.
    process.on('uncaughtException', call);
}
/** Ends the process once all that was printed is written, whatever is still under way. */
function exit(exitCode) {
    process.stdout.write('', () => {
        // process.exit waits for the look-up of an address, which may hang for long: libuv joins its threads.
        const hangs = process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap');
        if (hangs && exitCode === 1)
            process.kill(process.pid, 'SIGKILL');
        process.exit(exitCode);
    });
}
//# sourceMappingURL=runner.js.map
;// CONCATENATED MODULE: ./build/src/stop.js
/** The end of the step's time: one signal, raised by the deadline or by a cancel, whichever comes first. */
/**
 * Makes the signal.
 *
 * @param cancel raised when the runner cancels the step
 * @param deadline on the clock, in milliseconds
 */
function stopAt(deadline, cancel, clock) {
    const controller = new AbortController();
    let cancelled = false;
    const onCancel = () => {
        cancelled = !controller.signal.aborted;
        controller.abort();
    };
    const remainingMs = () => Math.max(0, deadline - clock.now());
    if (cancel.aborted)
        onCancel();
    else
        cancel.addEventListener('abort', onCancel, { once: true });
    void clock.sleep(remainingMs(), cancel).then(() => controller.abort());
    return { signal: controller.signal, cancelled: () => cancelled, remainingMs };
}
//# sourceMappingURL=stop.js.map
;// CONCATENATED MODULE: ./build/src/summary.js
/** The step summary: Markdown that reads well on GitHub, the result first. Pure; all text from outside is escaped. */




/**
 * Writes the summary.
 *
 * @param inputs undefined where they were bad
 * @param end undefined while the run goes on: what the summary then says has to be right if it is the last word
 */
function summary_summary(inputs, progress, end, redact, { runLink = '', sending = progress.sending } = {}) {
    const show = (text) => (0,src_escape/* code */.aY)(redact(text));
    const sections = [
        `### ${end === undefined ? titleSoFar(progress, sending) : TITLES[end.outcome]}`,
        pullRequest(progress, show),
        reason(end, show),
        fault(end, show),
        facts(inputs, progress, show, runLink),
        statuses(progress),
        `**What to do next:** ${end === undefined ? goOn(progress, sending, show) : nextStep(progress, end, show)}`,
    ];
    return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}
const TITLES = {
    'pr-opened': '✅ The docs job opened a pull request',
    'no-changes': '✅ The docs job completed: no changes were needed',
    started: '🚀 The docs job is on its way',
    failed: '❌ The docs job failed',
    archived: '🗄️ The docs job was archived',
    'timed-out': '⌛ The docs job had not ended when the time was over',
    cancelled: '🛑 The step was cancelled',
    skipped: '⏭️ Skipped: nothing was sent',
    'dry-run': '📝 Dry run: nothing was sent',
    error: '❌ The docs job could not be run or followed',
};
function titleSoFar(progress, sending) {
    if (progress.taken)
        return '⏳ The docs job is on its way';
    return sending ? '⏳ The request is being sent' : '⏳ Nothing was taken by the service yet';
}
function pullRequest(progress, show) {
    const link = progress.job?.link ?? '';
    if (link === '')
        return '';
    const { repository, number } = (0,src_job/* pullRequestOf */._n)(link);
    return `**Pull request:** [${show(number === '' ? link : `${repository}#${number}`)}](<${link}>)`;
}
/** Why nothing was done, with `skipped`. */
function reason(end, show) {
    return end?.reason === undefined ? '' : `Why: ${show(end.reason)}`;
}
function fault(end, show) {
    const error = end?.error;
    if (error === undefined)
        return '';
    const lines = error.message.split('\n').map((line) => `- ${show(line)}`);
    return [...lines, `- Error code: ${show(error.code)}`].join('\n');
}
function facts(inputs, progress, show, runLink) {
    const rows = [
        ['Job', progress.jobId === '' ? '' : show(progress.jobId)],
        ['Project', inputs === undefined ? '' : show(inputs.projectId)],
        ['Service', inputs === undefined ? '' : show(inputs.baseUrl)],
        ['Run', runLink === '' ? '' : `[${show(runLink.split('/').at(-1) ?? '')}](<${runLink}>)`],
        ['Time', duration(progress.elapsedMs())],
    ];
    return table(['', ''], rows.filter(([, value]) => value !== ''));
}
function statuses({ moments }) {
    if (moments.length === 0)
        return '';
    const rows = moments.map(({ date, afterMs, status }) => [
        date.toISOString().slice(0, 19).replace('T', ' '),
        duration(afterMs),
        status,
    ]);
    return table(['Time (UTC)', 'After', 'Status'], rows);
}
/** What is right to do if the step dies now. */
function goOn(progress, sending, show) {
    if (progress.taken) {
        return `If this step ends before the job does, the job goes on: a step with ${show(`job-id: ${progress.jobId}`)} and no prompt picks it up.`;
    }
    if (!sending) {
        return 'If this is the last word of this step, it died before the service took anything: run it again.';
    }
    const died = 'If this is the last word of this step, it died before the answer came, and';
    return progress.jobId === ''
        ? `${died} a job may exist: look among the agent's jobs in the service's dashboard before you run it again.`
        : `${died} the job may have the message: a step with ${show(`job-id: ${progress.jobId}`)} and no prompt follows it.`;
}
function table(head, rows) {
    const line = (cells) => `| ${cells.join(' | ')} |`;
    return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
//# sourceMappingURL=summary.js.map
;// CONCATENATED MODULE: ./build/src/main.js
/** The composition root: reads, wires, runs, reports. The only place that decides the exit code. */
















const HEARTBEAT_MS = 60_000;
/** How long the end waits for the comment, in milliseconds; the least where the time is over. */
const COMMENT_MS = { most: 10_000, least: 1_000, cancelled: 700 };
/** Runs the action and ends the process. */
async function main() {
    const signals = catchSignals();
    const raw = rawInputs();
    const secrets = [raw['api-key'], raw['github-token']];
    for (const secret of secrets)
        mask(secret);
    const step = new Step((0,src_escape/* redactor */.$p)(...secrets), signals.first);
    catchFaults((thrown) => step.endNow(endOf(step.unknownFate(thrown) ?? thrown)));
    signals.second.addEventListener('abort', () => step.endNow(endOf(new errors/* Cancelled */.cJ(step.unknownFate()))));
    try {
        await step.end(step.skip(raw) ?? (await step.run(raw)));
    }
    catch (thrown) {
        await step.end(endOf(thrown));
    }
}
/** One step, from its inputs to its exit code. */
class Step {
    #redact;
    #cancel;
    #reporter;
    #progress = new Progress(clock);
    #environment = runEnvironment();
    #event = (0,github_event/* readEvent */.j)(this.#environment);
    #inputs;
    #commenter;
    #ended = false;
    #linkWarned = false;
    /** What could not be written, and was told. */
    #failed = new Set();
    constructor(redact, cancel) {
        this.#redact = redact;
        this.#cancel = cancel;
        this.#reporter = new Reporter(redact);
    }
    /** Before anything else: a run that the agent brought about may have no secrets, and is no fault. */
    skip(raw) {
        const { skip } = (0,skip_authors/* skipAuthors */.w)(this.#event, parseAuthors(raw['skip-authors']));
        return skip === undefined ? undefined : { outcome: 'skipped', reason: skip };
    }
    async run(raw) {
        const { /* clock */ "pm": clock } = runner_namespaceObject;
        const inputs = this.#read(raw);
        const stop = stopAt(inputs.timeoutMs, this.#cancel, clock);
        const ports = {
            clock,
            stop,
            progress: this.#progress,
            random: random,
            log: (line) => this.#reporter.log(line),
            debug: (line) => this.#reporter.debug(line),
            warn: (line) => this.#reporter.warn(line),
            see: (job) => this.#see(job),
            place: () => this.#place(),
            publish: () => this.#publish(),
        };
        const quiet = clock.every(HEARTBEAT_MS, () => ports.log(heartbeatLine(this.#progress)));
        const { agentService } = await Promise.all(/* import() */[__nccwpck_require__.e(820), __nccwpck_require__.e(50), __nccwpck_require__.e(168)]).then(__nccwpck_require__.bind(__nccwpck_require__, 8168));
        const proxies = proxyVariables();
        const service = agentService({ ...inputs, ...ports, redact: this.#redact, proxies, now: clock.now });
        try {
            const { task, skip } = await this.#plan(inputs, service, ports);
            if (task === undefined)
                return { outcome: 'skipped', reason: skip ?? '' };
            this.#inputs = { ...inputs, task };
            if (task.kind !== 'create')
                this.#progress.jobId = task.jobId;
            ports.log(startLine(this.#inputs));
            return inputs.dryRun ? this.#dryRun(task) : await run(this.#inputs, service, ports);
        }
        finally {
            quiet();
            service.close();
        }
    }
    /** Tells how it ended, once, and ends the process. */
    async end(end) {
        if (this.#ended)
            return;
        try {
            this.#tellEnd(end);
            await this.#commenter?.close(this.#timeForComment(end), COMMENT_MS.cancelled, this.#cancel);
        }
        finally {
            exit(this.#exitCode(end));
        }
    }
    #timeForComment({ outcome }) {
        if (outcome === 'cancelled')
            return COMMENT_MS.cancelled;
        const left = (this.#inputs?.timeoutMs ?? 0) - this.#progress.elapsedMs();
        return Math.min(COMMENT_MS.most, Math.max(COMMENT_MS.least, left));
    }
    /** Tells how it ended, if it is not told yet, and ends the process at once. */
    endNow(end) {
        try {
            if (!this.#ended)
                this.#tellEnd(end);
        }
        finally {
            exit(1);
        }
    }
    #tellEnd(end) {
        this.#ended = true;
        this.#publish(end);
        const { level, text, log } = annotation(this.#progress, end, this.#failOn());
        if (log !== undefined)
            this.#reporter.log(log);
        this.#reporter[level](text);
        this.#reporter.log(endLine(this.#progress, end));
        if (end.error !== undefined)
            this.#reporter.debug((0,external_node_util_.inspect)(end.error));
    }
    #failOn() {
        return this.#inputs?.failOn ?? new Set();
    }
    #exitCode({ outcome }) {
        return (0,src_job/* failsStep */.ug)(outcome, this.#failOn()) ? 1 : 0;
    }
    /** @throws InputError */
    #read(raw) {
        const sources = {
            redact: this.#redact,
            readPromptFile: (path) => readPromptFile(path, promptRoots()),
            secretsWithheld: () => secretsWithheld(this.#environment),
        };
        try {
            this.#inputs = readInputs(raw, sources);
        }
        catch (thrown) {
            if (thrown instanceof InputError)
                this.#progress.jobId = thrown.jobId;
            throw thrown;
        }
        const { task } = this.#inputs;
        if (task.kind !== 'create')
            this.#progress.jobId = task.jobId;
        if (raw['prompt-file'].trim() !== '' && this.#event.name === 'pull_request_target') {
            this.#reporter.warn('prompt-file on pull_request_target: if the file comes from the pull request, its words are those of whoever opened it.');
        }
        return this.#inputs;
    }
    /** What GitHub knows decides what is done, where it is asked for; else none of that code is loaded. */
    async #plan(inputs, service, ports) {
        if (!needsGitHub(inputs, this.#event))
            return { task: inputs.task };
        if (this.#event.fault !== undefined)
            forgetEvent();
        const { plan } = await Promise.all(/* import() */[__nccwpck_require__.e(820), __nccwpck_require__.e(413), __nccwpck_require__.e(108)]).then(__nccwpck_require__.bind(__nccwpck_require__, 731));
        const run = this.#environment;
        const proxies = proxyVariables();
        const access = { token: inputs.githubToken, apiUrl: run.apiUrl, proxies, redact: this.#redact };
        return plan({
            inputs,
            run,
            event: this.#event,
            access,
            service,
            ports,
            nonce: nonce,
            comment: (commenter) => {
                this.#commenter = commenter;
            },
        });
    }
    /** Before a create: what the memory then says has to be right if the run dies with the create on its way. */
    async #place() {
        if (this.#commenter?.decides)
            await this.#commenter.place(this.#told(undefined, true));
    }
    #told(end, sending = this.#progress.sending) {
        const { serverUrl, repository, runId } = this.#environment;
        const runLink = `${serverUrl}/${repository}/actions/runs/${runId}`;
        const text = summary_summary(this.#inputs, this.#progress, end, this.#redact, { runLink, sending });
        return {
            state: this.#stateToRemember(end),
            jobId: this.#progress.jobId,
            link: this.#progress.job?.link ?? '',
            text,
        };
    }
    /** What the next run has to know: how it ended, and where it failed, whether something was taken. */
    #stateToRemember(end) {
        const { status, taken } = this.#progress;
        if (end === undefined)
            return taken ? (status ?? 'active') : 'sending';
        if (end.outcome !== 'error' && end.outcome !== 'cancelled')
            return end.outcome;
        if (end.error?.code === 'create-unknown')
            return 'unknown';
        return taken ? end.outcome : 'unsent';
    }
    /** Where a create or a message is on its way right now: that nobody knows what becomes of it. */
    unknownFate(cause) {
        const task = this.#inputs?.task;
        if (!this.#progress.sending || task === undefined || task.kind === 'attach')
            return undefined;
        return (0,retry/* unknownFate */.hj)(task, 'the step ended before an answer came', cause);
    }
    #dryRun(task) {
        if (task.kind !== 'attach')
            this.#reporter.group('The prompt as it would be sent', task.prompt);
        return { outcome: 'dry-run' };
    }
    #see(job) {
        if (job.linkRefused && !this.#linkWarned) {
            this.#linkWarned = true;
            this.#reporter.warn('The service gave a pull request link that is no plain http(s) address; it is not passed on.');
        }
        if (!this.#progress.see(job))
            return;
        this.#reporter.log(stateLine(this.#progress));
        this.#publish();
    }
    /**
     * Writes what is known to the outputs and the summary, each whether or not the other can be written.
     *
     * @throws where the outputs can't be written before the service took anything: better to send nothing than to lose
     * a job.
     */
    #publish(end) {
        if (this.#ended && end === undefined)
            return; // A run that goes on behind an end.
        const known = outputs(this.#progress, end, this.#redact);
        const text = summary_summary(this.#inputs, this.#progress, end, this.#redact);
        this.#orWarn('the summary', () => this.#reporter.summary(text));
        const write = () => {
            for (const [name, value] of Object.entries(known))
                this.#reporter.output(name, value);
        };
        if (end === undefined && !this.#progress.taken)
            this.#orFail('the outputs', write);
        else
            this.#orWarn('the outputs', write);
        this.#comment(end);
    }
    /** Where something can't be written, that is the fault that the step ends with. */
    #orFail(what, write) {
        try {
            write();
        }
        catch (thrown) {
            this.#failed.add(what);
            throw new errors/* ActionError */.lZ('internal', `Writing ${what} failed: ${thrown.message}. Nothing was sent.`, "Check the runner's disk and the files that it hands to the step.", { cause: thrown });
        }
    }
    /** Where something can't be written, says so once. */
    #orWarn(what, write) {
        try {
            write();
        }
        catch (thrown) {
            if (this.#failed.has(what))
                return;
            this.#failed.add(what);
            this.#reporter.warn(`Writing ${what} failed: ${thrown.message}`);
        }
    }
    /** A comment that is no memory tells of a job, not of a try. */
    #comment(end) {
        const { job, status } = this.#progress;
        if (this.#commenter === undefined || end?.outcome === 'dry-run' || end?.outcome === 'skipped')
            return;
        if (end === undefined && (0,src_job/* hasEnded */.hY)(status))
            return; // Told with the end, which is next.
        const known = job !== undefined || end !== undefined;
        if (this.#commenter.decides || known)
            this.#commenter.tell(this.#told(end));
    }
}
//# sourceMappingURL=main.js.map

/***/ }),

/***/ 267:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   z: () => (/* binding */ grouped)
/* harmony export */ });
/** Numbers as a reader says them. */
/** A whole number with its thousands apart, `1,048,576`: without Node's locale data, which takes 15 ms to load. */
function grouped(value) {
    return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
//# sourceMappingURL=numbers.js.map

/***/ }),

/***/ 207:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   FD: () => (/* binding */ judgeLook),
/* harmony export */   IU: () => (/* binding */ UNREACHABLE_MS),
/* harmony export */   P9: () => (/* binding */ retryAfter),
/* harmony export */   _j: () => (/* binding */ judgePost),
/* harmony export */   cb: () => (/* binding */ delay),
/* harmony export */   hj: () => (/* binding */ unknownFate)
/* harmony export */ });
/* unused harmony exports UNSEEN_MS, STRANGE_LIMIT, unreachable */
/* harmony import */ var _errors_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(7406);
/* harmony import */ var _escape_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(8622);
/** May a request be sent again, and after how long? Pure: replies in, verdicts out. */


/** How long after a create a 404 may mean that the job is not to be seen yet, in milliseconds. */
const UNSEEN_MS = 30_000;
/** How many complete answers in a row may hold no job before a wait ends. */
const STRANGE_LIMIT = 3;
/** How long an address that never answered is tried, in milliseconds. */
const UNREACHABLE_MS = 120_000;
const UNSENT_CAP_MS = 10_000;
const BUSY_CAP_MS = 60_000;
const LOOK_CAP_MS = 30_000;
/**
 * Judges a create or a message.
 *
 * It is sent again only when it is proven that it was not taken: a second job costs money and a second pull request,
 * and the service has no idempotency key. So not after any 5xx either: a cache puts `Retry-After` on its own 503 after
 * the request went through.
 */
function judgePost(post, reply, date) {
    const perhaps = (reason, cause) => {
        const unknown = unknownFate(post, reason, cause);
        return { next: 'fail', error: unknown, unknown };
    };
    switch (reply.kind) {
        case 'job':
            return { next: 'taken', job: reply.job };
        case 'no-job':
            return post.kind === 'message'
                ? { next: 'taken', job: undefined }
                : {
                    ...perhaps(`the answer holds no job (${reply.words})`),
                    next: 'fail',
                    error: createdWithoutJob(reply.words),
                };
        case 'stopped':
            return reply.sent
                ? { next: 'stopped', unknown: unknownFate(post, 'no answer came before it was ended') }
                : { next: 'stopped' };
        case 'lost':
            return perhaps(reply.reason, reply.cause);
        case 'unsent': {
            const error = unreachable(reply);
            return reply.refusal !== undefined
                ? { next: 'fail', error }
                : { next: 'again', error, pause: { retryAfterMs: undefined, capMs: UNSENT_CAP_MS }, answered: false };
        }
        case 'refused': {
            if (reply.status >= 500)
                return perhaps(`the service answered ${reply.words}`);
            const error = refusal(reply, post);
            const busy = reply.status === 429 || (reply.status === 409 && post.kind === 'message');
            const pause = { retryAfterMs: retryAfter(reply.retryAfter, date), capMs: BUSY_CAP_MS };
            return busy ? { next: 'again', error, pause, answered: true } : { next: 'fail', error };
        }
    }
}
/** Judges a look at a job. A look changes nothing, so whatever may pass is tried again. */
function judgeLook(reply, context, date) {
    const again = (why, retryAfterMs) => ({
        next: 'again',
        why,
        pause: { retryAfterMs, capMs: LOOK_CAP_MS },
    });
    switch (reply.kind) {
        case 'job':
            return { next: 'see', job: reply.job };
        case 'stopped':
            return { next: 'stopped' };
        case 'no-job':
            return context.strange + 1 < STRANGE_LIMIT
                ? again(`the service answered no job (${reply.words})`)
                : { next: 'fail', error: noJob(context.jobId, reply.words) };
        case 'lost':
            return again(reply.reason);
        case 'unsent':
            return reply.refusal === undefined ? again(reply.reason) : { next: 'fail', error: unreachable(reply) };
        case 'refused': {
            const { status, words } = reply;
            const unseen = status === 404 && (context.sinceCreateMs ?? Number.POSITIVE_INFINITY) <= UNSEEN_MS;
            return status >= 500 || status === 429 || unseen
                ? again(`the service answered ${words}`, retryAfter(reply.retryAfter, date))
                : { next: 'fail', error: refusal(reply, { kind: 'look', jobId: context.jobId }) };
        }
    }
}
/**
 * How long to wait before the next try, in milliseconds.
 *
 * `least` is what has to be waited at least; `wait` has jitter on top, so that many runs that were refused together do
 * not come back together: up to a quarter of what the service asked for, or up to half of an exponential back-off.
 *
 * @param tries how many tries there have been, from 1
 * @param random from 0 to 1
 */
function delay(pause, tries, random) {
    if (pause.retryAfterMs !== undefined) {
        const least = Math.max(pause.retryAfterMs, 1000);
        return { least, wait: least * (1 + random / 4) };
    }
    const full = Math.min(pause.capMs, 1000 * 2 ** (tries - 1));
    return { least: full / 2, wait: (full / 2) * (1 + random) };
}
/** `Retry-After` in milliseconds from now: seconds or an HTTP date (RFC 9110, 10.2.3); undefined where it is neither. */
function retryAfter(header, now) {
    const value = header?.trim() ?? '';
    if (/^\d+(?:\.\d+)?$/.test(value))
        return Number(value) * 1000;
    // Two of its three forms name GMT; the oldest, asctime's, means it.
    const zoned = /^[A-Za-z]{3} [^,]*\d$/.test(value) ? `${value} GMT` : value;
    const date = /^[A-Za-z]{3,9},? .*\d\d:\d\d/.test(value) ? Date.parse(zoned) : Number.NaN;
    return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
const WHERE_TO_LOOK = "Look among the agent's jobs in the service's dashboard and the open pull requests of the docs repository " +
    'before you run this again';
/** Sent, and what became of it is not known. */
function unknownFate(post, reason, cause) {
    return post.kind === 'create'
        ? new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('create-unknown', `The create was sent, and what became of it is unknown: ${reason}. A job may exist.`, `It was not sent again, since that could create a second job. ${WHERE_TO_LOOK}; ` +
            'a step with its job-id and no prompt follows it.', { cause })
        : new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('create-unknown', `The message to job ${(0,_escape_js__WEBPACK_IMPORTED_MODULE_1__/* .quote */ .hD)(post.jobId)} was sent, and what became of it is unknown: ${reason}. ` +
            'The job may be working on it.', 'It was not sent again, since the job could then do it twice. Look at the job: a step with this job-id ' +
            'and no prompt follows it.', { cause });
}
function createdWithoutJob(words) {
    return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('contract', `The create was answered with success, but without a job (${words}). A job may exist.`, `It was not sent again. ${WHERE_TO_LOOK}, and check that base-url is the address of an agent service.`);
}
function noJob(jobId, words) {
    return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('contract', `The service answered ${STRANGE_LIMIT} times in a row with success, but without the job ${(0,_escape_js__WEBPACK_IMPORTED_MODULE_1__/* .quote */ .hD)(jobId)} (${words}).`, 'Check that base-url is the address of an agent service.');
}
/** No request left: nothing can have happened at the service. */
function unreachable(reply) {
    const { reason, refusal, cause } = reply;
    switch (refusal) {
        case 'certificate':
            return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('network', `The service's certificate is not trusted: ${reason}. Nothing was sent.`, 'Check base-url. Where the certificate authority is your own, set NODE_EXTRA_CA_CERTS to the file that holds ' +
                "it, in the step's env.", { cause });
        case 'proxy-authentication':
            return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('network', `The proxy wants other credentials: ${reason}. Nothing was sent.`, 'Put the user and the password into HTTPS_PROXY (http://user:password@host:port), or name the service in NO_PROXY.', { cause });
        case undefined:
            return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('network', `The service can't be reached: ${reason}. Nothing was sent.`, 'Check base-url, the proxy variables and the network, then run it again.', { cause });
    }
}
/** A complete answer that refuses: nothing was taken. */
function refusal(reply, asked) {
    const { status, words } = reply;
    const what = { create: 'create', message: 'message', look: 'look at the job' }[asked.kind];
    const text = `The service refused the ${what} with ${words}.`;
    if (status < 400) {
        return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('contract', `The service answered the ${what} with a redirect (${words}).`, 'The key is never sent elsewhere. If the service has moved to a place that you trust, set base-url to it.');
    }
    switch (status) {
        case 401:
            return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('auth', text, 'Check that api-key is a current admin key (mint_…, neither mint_dsc_… nor mint_us_…): keys expire.');
        case 403:
            return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('auth', text, "Check that the key belongs to this project-id, and that the runner's address is in the key's allow-list.");
        case 404:
            return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('not-found', text, asked.kind === 'create' ? 'Check project-id and base-url.' : 'Check job-id, project-id and base-url.');
        case 409:
            return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('rejected', text, 'The job is busy. Wait for it first, or raise timeout-minutes.');
        case 429:
            return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('rate-limited', text, 'The service takes 100 creates and 100 messages per project and hour. Run it later, or less often.');
        default:
            return new _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .ActionError */ .lZ('rejected', text, 'Change what the service objects to, then run it again.');
    }
}
//# sourceMappingURL=retry.js.map

/***/ }),

/***/ 2668:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   e6: () => (/* binding */ follow)
/* harmony export */ });
/* unused harmony exports SETTLE_MS, pollDelay, lastLookMargin, trustAfter */
/* harmony import */ var node_util__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(7975);
/* harmony import */ var _errors_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(7406);
/* harmony import */ var _escape_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(8622);
/* harmony import */ var _job_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(7502);
/* harmony import */ var _service_retry_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(207);
/** Follows a job to its end: when to look, when to believe what is seen, when to give up. */





/** So long, in milliseconds, an end that is seen after a message may be the one from before it. */
const SETTLE_MS = 30_000;
/**
 * Looks at a job until it has ended or the time is over.
 *
 * @throws ActionError where a look is refused for good, or where none was ever answered.
 * @throws Cancelled
 */
async function follow(wait, service, ports) {
    const { clock, stop } = ports;
    const watch = new Watch(wait, ports);
    for (let last = false; !last;) {
        const pause = watch.pause;
        const untilLastLook = Math.max(0, stop.remainingMs() - lastLookMargin(wait.timeoutMs));
        last = pause >= untilLastLook;
        await clock.sleep(Math.min(pause, untilLastLook), stop.signal);
        if (stop.signal.aborted)
            break;
        const end = watch.take(await service.look(wait.jobId));
        if (end !== undefined)
            return end;
    }
    if (stop.cancelled())
        throw new _errors_js__WEBPACK_IMPORTED_MODULE_1__/* .Cancelled */ .cJ();
    if (!watch.answered)
        throw neverAnswered(wait.jobId, watch.trouble);
    return { kind: 'deadline' };
}
/**
 * How long to wait before the next look, in milliseconds: a fixed interval, or a tenth of the elapsed time, at least
 * 5 s, at most 12 s.
 */
function pollDelay(elapsedMs, fixedMs) {
    return fixedMs ?? Math.min(12_000, Math.max(5_000, elapsedMs / 10));
}
/** So long before the deadline the last look begins, in milliseconds: it has to be answered by then. */
function lastLookMargin(timeoutMs) {
    return Math.min(2_000, timeoutMs / 20);
}
/**
 * Makes the judge of what is seen after a message: a job that had ended may still read so for a moment.
 *
 * An end is believed when the job was seen running since, or differs from the end that was seen first, or the settle
 * time has passed. That the answer to the message itself says `active` proves nothing about the next look.
 *
 * @param settleMs counted from the message
 */
function trustAfter(after, settleMs) {
    if (after.kind !== 'message')
        return () => true;
    const { answer } = after;
    let running = false;
    let stale;
    return (job, now) => {
        running ||= !(0,_job_js__WEBPACK_IMPORTED_MODULE_3__/* .hasEnded */ .hY)(job.status);
        const changed = (stale !== undefined && differs(job, stale)) ||
            (answer !== undefined && (0,_job_js__WEBPACK_IMPORTED_MODULE_3__/* .hasEnded */ .hY)(answer.status) && differsWhereBothTell(job, answer));
        stale ??= job;
        return running || changed || now - after.at >= settleMs;
    };
}
/** Whether two looks at a job show different objects. */
function differs({ received: a }, { received: b }) {
    try {
        return !(0,node_util__WEBPACK_IMPORTED_MODULE_0__.isDeepStrictEqual)(a, b);
    }
    catch {
        return false; // Nested too deep to be compared: the settle time decides.
    }
}
/** The same in the fields that both have: the answer to a message may be sparser than a look. */
function differsWhereBothTell(look, answer) {
    const both = Object.keys(look.received).filter((name) => Object.hasOwn(answer.received, name));
    const part = (job) => ({
        ...job,
        received: both.map((name) => job.received[name]),
    });
    return differs(part(look), part(answer));
}
/** What the looks have shown so far. */
class Watch {
    /** Milliseconds until the next look. */
    pause;
    /** The service gave a whole answer, whatever it said. */
    answered;
    /** Why the last look showed nothing. */
    trouble = '';
    #wait;
    #ports;
    #startedAt;
    #settleMs;
    #trusts;
    #failures = 0;
    #strange = 0;
    #warned = false;
    constructor(wait, ports) {
        this.#wait = wait;
        this.#ports = ports;
        this.#startedAt = ports.clock.now();
        this.#settleMs = Math.min(SETTLE_MS, (ports.stop.remainingMs() - lastLookMargin(wait.timeoutMs)) / 2);
        this.#trusts = trustAfter(wait.after, this.#settleMs);
        this.answered = wait.after.kind !== 'nothing';
        this.pause = this.answered ? pollDelay(0, wait.pollIntervalMs) : 0;
    }
    /** Takes in the answer to a look; returns the wait's end when there is one. */
    take(reply) {
        const { clock, random } = this.#ports;
        const { jobId, after, pollIntervalMs } = this.#wait;
        const now = clock.now();
        const sinceCreateMs = after.kind === 'create' ? now - after.at : undefined;
        const verdict = (0,_service_retry_js__WEBPACK_IMPORTED_MODULE_2__/* .judgeLook */ .FD)(reply, { jobId, sinceCreateMs, strange: this.#strange }, clock.date());
        this.answered ||= reply.kind === 'job' || reply.kind === 'no-job' || reply.kind === 'refused';
        this.#strange = reply.kind === 'no-job' ? this.#strange + 1 : 0;
        this.pause = pollDelay(now - this.#startedAt, pollIntervalMs);
        switch (verdict.next) {
            case 'stopped':
                return undefined;
            case 'fail':
                throw verdict.error;
            case 'again':
                this.#failures++;
                this.trouble = verdict.why;
                this.pause = Math.max(this.pause, (0,_service_retry_js__WEBPACK_IMPORTED_MODULE_2__/* .delay */ .cb)(verdict.pause, this.#failures, random()).wait);
                this.#tellTrouble();
                return undefined;
            case 'see':
                this.#failures = 0;
                return this.#see(verdict.job, now);
        }
    }
    #see(job, now) {
        const { after, once } = this.#wait;
        if (job.status === undefined)
            this.#warnOnce(job.word);
        if (!this.#trusts(job, now)) {
            this.#ports.debug(`The job reads ${(0,_escape_js__WEBPACK_IMPORTED_MODULE_4__/* .quote */ .hD)(job.word)}, which may be from before the message.`);
            if (after.kind === 'message')
                this.pause = Math.min(this.pause, after.at + this.#settleMs - now);
            return undefined;
        }
        this.#ports.see(job);
        if ((0,_job_js__WEBPACK_IMPORTED_MODULE_3__/* .hasEnded */ .hY)(job.status))
            return { kind: 'ended', status: job.status };
        return once ? { kind: 'active' } : undefined;
    }
    #tellTrouble() {
        const text = `No state of the job: ${this.trouble}. Looking again.`;
        if (this.#failures === 1)
            this.#ports.log(text);
        else
            this.#ports.debug(text);
    }
    #warnOnce(word) {
        if (this.#warned)
            return;
        this.#warned = true;
        this.#ports.warn(`The service gives the job a status that is not in its list, ${(0,_escape_js__WEBPACK_IMPORTED_MODULE_4__/* .quote */ .hD)(word)}. It counts as not ended.`);
    }
}
function neverAnswered(jobId, trouble) {
    return new _errors_js__WEBPACK_IMPORTED_MODULE_1__/* .ActionError */ .lZ('network', `The service never answered a look at job ${(0,_escape_js__WEBPACK_IMPORTED_MODULE_4__/* .quote */ .hD)(jobId)}${trouble === '' ? '' : `: ${trouble}`}.`, 'Check base-url, the proxy variables and the network, then run it again: the job is not touched by a look.');
}
//# sourceMappingURL=wait.js.map

/***/ })

/******/ });
/************************************************************************/
/******/ // The module cache
/******/ var __webpack_module_cache__ = {};
/******/ 
/******/ // The require function
/******/ function __nccwpck_require__(moduleId) {
/******/ 	// Check if module is in cache
/******/ 	var cachedModule = __webpack_module_cache__[moduleId];
/******/ 	if (cachedModule !== undefined) {
/******/ 		return cachedModule.exports;
/******/ 	}
/******/ 	// Create a new module (and put it into the cache)
/******/ 	var module = __webpack_module_cache__[moduleId] = {
/******/ 		id: moduleId,
/******/ 		loaded: false,
/******/ 		exports: {}
/******/ 	};
/******/ 
/******/ 	// Execute the module function
/******/ 	var threw = true;
/******/ 	try {
/******/ 		__webpack_modules__[moduleId](module, module.exports, __nccwpck_require__);
/******/ 		threw = false;
/******/ 	} finally {
/******/ 		if(threw) delete __webpack_module_cache__[moduleId];
/******/ 	}
/******/ 
/******/ 	// Flag the module as loaded
/******/ 	module.loaded = true;
/******/ 
/******/ 	// Return the exports of the module
/******/ 	return module.exports;
/******/ }
/******/ 
/******/ // expose the modules object (__webpack_modules__)
/******/ __nccwpck_require__.m = __webpack_modules__;
/******/ 
/************************************************************************/
/******/ /* webpack/runtime/asset-relocator-loader */
/******/ if (typeof __nccwpck_require__ !== 'undefined') __nccwpck_require__.ab = decodeURIComponent(new URL('.', import.meta.url).pathname).slice(import.meta.url.match(/^file:\/\/\/\w:/) ? 1 : 0, -1) + "/";
/******/ 
/******/ /* webpack/runtime/async module */
/******/ (() => {
/******/ 	var webpackQueues = typeof Symbol === "function" ? Symbol("webpack queues") : "__webpack_queues__";
/******/ 	var webpackExports = typeof Symbol === "function" ? Symbol("webpack exports") : "__webpack_exports__";
/******/ 	var webpackError = typeof Symbol === "function" ? Symbol("webpack error") : "__webpack_error__";
/******/ 	var resolveQueue = (queue) => {
/******/ 		if(queue && queue.d < 1) {
/******/ 			queue.d = 1;
/******/ 			queue.forEach((fn) => (fn.r--));
/******/ 			queue.forEach((fn) => (fn.r-- ? fn.r++ : fn()));
/******/ 		}
/******/ 	}
/******/ 	var wrapDeps = (deps) => (deps.map((dep) => {
/******/ 		if(dep !== null && typeof dep === "object") {
/******/ 			if(dep[webpackQueues]) return dep;
/******/ 			if(dep.then) {
/******/ 				var queue = [];
/******/ 				queue.d = 0;
/******/ 				dep.then((r) => {
/******/ 					obj[webpackExports] = r;
/******/ 					resolveQueue(queue);
/******/ 				}, (e) => {
/******/ 					obj[webpackError] = e;
/******/ 					resolveQueue(queue);
/******/ 				});
/******/ 				var obj = {};
/******/ 				obj[webpackQueues] = (fn) => (fn(queue));
/******/ 				return obj;
/******/ 			}
/******/ 		}
/******/ 		var ret = {};
/******/ 		ret[webpackQueues] = x => {};
/******/ 		ret[webpackExports] = dep;
/******/ 		return ret;
/******/ 	}));
/******/ 	__nccwpck_require__.a = (module, body, hasAwait) => {
/******/ 		var queue;
/******/ 		hasAwait && ((queue = []).d = -1);
/******/ 		var depQueues = new Set();
/******/ 		var exports = module.exports;
/******/ 		var currentDeps;
/******/ 		var outerResolve;
/******/ 		var reject;
/******/ 		var promise = new Promise((resolve, rej) => {
/******/ 			reject = rej;
/******/ 			outerResolve = resolve;
/******/ 		});
/******/ 		promise[webpackExports] = exports;
/******/ 		promise[webpackQueues] = (fn) => (queue && fn(queue), depQueues.forEach(fn), promise["catch"](x => {}));
/******/ 		module.exports = promise;
/******/ 		body((deps) => {
/******/ 			currentDeps = wrapDeps(deps);
/******/ 			var fn;
/******/ 			var getResult = () => (currentDeps.map((d) => {
/******/ 				if(d[webpackError]) throw d[webpackError];
/******/ 				return d[webpackExports];
/******/ 			}))
/******/ 			var promise = new Promise((resolve) => {
/******/ 				fn = () => (resolve(getResult));
/******/ 				fn.r = 0;
/******/ 				var fnQueue = (q) => (q !== queue && !depQueues.has(q) && (depQueues.add(q), q && !q.d && (fn.r++, q.push(fn))));
/******/ 				currentDeps.map((dep) => (dep[webpackQueues](fnQueue)));
/******/ 			});
/******/ 			return fn.r ? promise : getResult();
/******/ 		}, (err) => ((err ? reject(promise[webpackError] = err) : outerResolve(exports)), resolveQueue(queue)));
/******/ 		queue && queue.d < 0 && (queue.d = 0);
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/define property getters */
/******/ (() => {
/******/ 	// define getter functions for harmony exports
/******/ 	__nccwpck_require__.d = (exports, definition) => {
/******/ 		for(var key in definition) {
/******/ 			if(__nccwpck_require__.o(definition, key) && !__nccwpck_require__.o(exports, key)) {
/******/ 				Object.defineProperty(exports, key, { enumerable: true, get: definition[key] });
/******/ 			}
/******/ 		}
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/ensure chunk */
/******/ (() => {
/******/ 	__nccwpck_require__.f = {};
/******/ 	// This file contains only the entry chunk.
/******/ 	// The chunk loading function for additional chunks
/******/ 	__nccwpck_require__.e = (chunkId) => {
/******/ 		return Promise.all(Object.keys(__nccwpck_require__.f).reduce((promises, key) => {
/******/ 			__nccwpck_require__.f[key](chunkId, promises);
/******/ 			return promises;
/******/ 		}, []));
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/get javascript chunk filename */
/******/ (() => {
/******/ 	// This function allow to reference async chunks
/******/ 	__nccwpck_require__.u = (chunkId) => {
/******/ 		// return url for filenames based on template
/******/ 		return "" + chunkId + ".index.js";
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/hasOwnProperty shorthand */
/******/ (() => {
/******/ 	__nccwpck_require__.o = (obj, prop) => (Object.prototype.hasOwnProperty.call(obj, prop))
/******/ })();
/******/ 
/******/ /* webpack/runtime/make namespace object */
/******/ (() => {
/******/ 	// define __esModule on exports
/******/ 	__nccwpck_require__.r = (exports) => {
/******/ 		if(typeof Symbol !== 'undefined' && Symbol.toStringTag) {
/******/ 			Object.defineProperty(exports, Symbol.toStringTag, { value: 'Module' });
/******/ 		}
/******/ 		Object.defineProperty(exports, '__esModule', { value: true });
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/node module decorator */
/******/ (() => {
/******/ 	__nccwpck_require__.nmd = (module) => {
/******/ 		module.paths = [];
/******/ 		if (!module.children) module.children = [];
/******/ 		return module;
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/import chunk loading */
/******/ (() => {
/******/ 	// no baseURI
/******/ 	
/******/ 	// object to store loaded and loading chunks
/******/ 	// undefined = chunk not loaded, null = chunk preloaded/prefetched
/******/ 	// [resolve, Promise] = chunk loading, 0 = chunk loaded
/******/ 	var installedChunks = {
/******/ 		792: 0
/******/ 	};
/******/ 	
/******/ 	var installChunk = (data) => {
/******/ 		var {ids, modules, runtime} = data;
/******/ 		// add "modules" to the modules object,
/******/ 		// then flag all "ids" as loaded and fire callback
/******/ 		var moduleId, chunkId, i = 0;
/******/ 		for(moduleId in modules) {
/******/ 			if(__nccwpck_require__.o(modules, moduleId)) {
/******/ 				__nccwpck_require__.m[moduleId] = modules[moduleId];
/******/ 			}
/******/ 		}
/******/ 		if(runtime) runtime(__nccwpck_require__);
/******/ 		for(;i < ids.length; i++) {
/******/ 			chunkId = ids[i];
/******/ 			if(__nccwpck_require__.o(installedChunks, chunkId) && installedChunks[chunkId]) {
/******/ 				installedChunks[chunkId][0]();
/******/ 			}
/******/ 			installedChunks[ids[i]] = 0;
/******/ 		}
/******/ 	
/******/ 	}
/******/ 	
/******/ 	__nccwpck_require__.f.j = (chunkId, promises) => {
/******/ 			// import() chunk loading for javascript
/******/ 			var installedChunkData = __nccwpck_require__.o(installedChunks, chunkId) ? installedChunks[chunkId] : undefined;
/******/ 			if(installedChunkData !== 0) { // 0 means "already installed".
/******/ 	
/******/ 				// a Promise means "currently loading".
/******/ 				if(installedChunkData) {
/******/ 					promises.push(installedChunkData[1]);
/******/ 				} else {
/******/ 					if(true) { // all chunks have JS
/******/ 						// setup Promise in chunk cache
/******/ 						var promise = import("./" + __nccwpck_require__.u(chunkId)).then(installChunk, (e) => {
/******/ 							if(installedChunks[chunkId] !== 0) installedChunks[chunkId] = undefined;
/******/ 							throw e;
/******/ 						});
/******/ 						var promise = Promise.race([promise, new Promise((resolve) => (installedChunkData = installedChunks[chunkId] = [resolve]))])
/******/ 						promises.push(installedChunkData[1] = promise);
/******/ 					}
/******/ 				}
/******/ 			}
/******/ 	};
/******/ 	
/******/ 	// no prefetching
/******/ 	
/******/ 	// no preloaded
/******/ 	
/******/ 	// no external install chunk
/******/ 	
/******/ 	// no on chunks loaded
/******/ })();
/******/ 
/************************************************************************/
/******/ 
/******/ // startup
/******/ // Load entry module and return exports
/******/ // This entry module used 'module' so it can't be inlined
/******/ var __webpack_exports__ = __nccwpck_require__(6857);
/******/ __webpack_exports__ = await __webpack_exports__;
/******/ 
