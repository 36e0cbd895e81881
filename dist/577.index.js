export const id = 577;
export const ids = [577];
export const modules = {

/***/ 6330:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   DECIDE_MS: () => (/* binding */ DECIDE_MS),
/* harmony export */   GitHubFault: () => (/* binding */ GitHubFault),
/* harmony export */   expecting: () => (/* binding */ expecting),
/* harmony export */   gitHub: () => (/* binding */ gitHub),
/* harmony export */   pages: () => (/* binding */ pages),
/* harmony export */   repositoryOf: () => (/* binding */ repositoryOf)
/* harmony export */ });
/* harmony import */ var _actions_github__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2413);
/* harmony import */ var undici__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6752);
/* harmony import */ var _errors_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7406);
/* harmony import */ var _escape_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(8622);
/* harmony import */ var _service_connect_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(6135);
/* harmony import */ var _service_proxy_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(49);
/* harmony import */ var _service_retry_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(207);
/** GitHub's REST API: what decides is asked again for a while, what only informs is asked once. */







/** How long what decides is asked again, in milliseconds. */
const DECIDE_MS = 60_000;
/** How long one request may take, in milliseconds. */
const REQUEST_MS = 10_000;
/** Connects to GitHub; nothing is sent yet. */
function gitHub(options) {
    const { clock, stop, random, redact, log } = options;
    const { rest } = (0,_actions_github__WEBPACK_IMPORTED_MODULE_0__/* .getOctokit */ .Q)(options.token || 'none', {
        baseUrl: options.apiUrl,
        userAgent: 'agent-job-action',
        log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
        request: { fetch: fetcher(options) },
    });
    /** Milliseconds that went into tries that failed, and the pauses after them. */
    let spent = 0;
    const ask = async (question, call, signal = stop.signal) => {
        try {
            const answer = await call(rest, AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]));
            // Octokit hands on what is no JSON, such as a cut answer, as the text it is.
            return expecting(() => true)(answer);
        }
        catch (thrown) {
            if (stop.cancelled() && signal === stop.signal)
                throw new _errors_js__WEBPACK_IMPORTED_MODULE_2__/* .Cancelled */ .cJ();
            const reason = signal.aborted ? new Error('the time was over (timeout-minutes)') : thrown;
            throw new GitHubFault(question, reason, clock.date(), redact);
        }
    };
    const decide = async (question, call, signal = stop.signal) => {
        for (let tries = 1;; tries++) {
            const startedAt = clock.now();
            try {
                return await ask(question, call, signal);
            }
            catch (thrown) {
                if (!(thrown instanceof GitHubFault) || !thrown.mayPass || signal.aborted)
                    throw thrown;
                spent += clock.now() - startedAt;
                const left = Math.min(DECIDE_MS - spent, stop.remainingMs());
                const pause = { retryAfterMs: thrown.retryAfterMs, capMs: REQUEST_MS };
                const { least, wait } = (0,_service_retry_js__WEBPACK_IMPORTED_MODULE_5__/* .delay */ .cb)(pause, tries, random());
                if (least >= left)
                    throw thrown;
                log(`${thrown.message} Trying again.`);
                await clock.sleep(Math.min(wait, left), signal);
                spent += Math.min(wait, left);
                if (stop.cancelled() && signal === stop.signal)
                    throw new _errors_js__WEBPACK_IMPORTED_MODULE_2__/* .Cancelled */ .cJ();
            }
        }
    };
    return { decide, ask };
}
/**
 * Makes a check of an answer: a JSON answer of another shape is a fault like any other.
 *
 * @param field checked in place of the whole
 */
function expecting(fits, field) {
    return (answer) => {
        const { data } = answer;
        const isObject = typeof data === 'object' && data !== null;
        if (isObject && fits(field === undefined ? data : data[field]))
            return answer;
        throw new Error('the answer is not what was asked for');
    };
}
/** All pages of a list. GitHub says which is the last one; a page may be short before. */
async function pages(size, most, page) {
    const all = [];
    for (let number = 1; number <= most; number++) {
        const { data, headers } = await page(number);
        all.push(...data.filter((item) => typeof item === 'object' && item !== null));
        const more = headers?.link === undefined ? data.length === size : headers.link.includes('rel="next"');
        if (!more)
            break;
    }
    return all;
}
function repositoryOf({ repository }) {
    const [owner = '', repo = ''] = repository.split('/');
    return { owner, repo };
}
/** Why GitHub did not give what was asked for. */
class GitHubFault extends _errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ActionError */ .lZ {
    /** The status of its answer; undefined where there was no whole one. */
    status;
    mayPass;
    retryAfterMs;
    constructor({ what, permission }, thrown, now, redact) {
        const { status, headers, message } = answerOf(thrown);
        const limited = isRateLimit(status, headers, message);
        const missing = !limited && (status === 403 || status === 404);
        super('github', `GitHub: ${what} failed: ${status === undefined ? '' : `${status}, `}${(0,_escape_js__WEBPACK_IMPORTED_MODULE_6__/* .oneLine */ .TN)((0,_escape_js__WEBPACK_IMPORTED_MODULE_6__/* .clip */ .$Q)(redact(message), 500))}.`, /locked/i.test(message)
            ? 'Unlock the conversation, or run it without a comment.'
            : missing
                ? `If it is there, the permission is missing: give the job \`permissions: ${permission}\`.`
                : status === 401
                    ? 'Check github-token.'
                    : 'Run it again later.', { cause: thrown });
        this.status = status;
        this.mayPass = status === undefined || status >= 500 || limited;
        this.retryAfterMs = limited ? waitOf(headers, now) : undefined;
    }
}
/** Reads Octokit's RequestError, which has a response only where GitHub answered. */
function answerOf(thrown) {
    const { status, response, message = String(thrown), } = thrown;
    return response === undefined
        ? { status: undefined, headers: {}, message }
        : { status, headers: response.headers, message };
}
/**
 * Both of GitHub's limits come as 403 or 429 (docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
 */
function isRateLimit(status, headers, message) {
    if (status === 429)
        return true;
    return (status === 403 &&
        (headers['retry-after'] !== undefined ||
            headers['x-ratelimit-remaining'] === '0' ||
            /rate limit/i.test(message)));
}
function waitOf(headers, now) {
    const asked = (0,_service_retry_js__WEBPACK_IMPORTED_MODULE_5__/* .retryAfter */ .P9)(headers['retry-after']?.toString(), now);
    const reset = headers['x-ratelimit-remaining'] === '0' ? Number(headers['x-ratelimit-reset']) : Number.NaN;
    return asked ?? (Number.isFinite(reset) ? Math.max(0, reset * 1000 - now.getTime()) : undefined);
}
/** A fetch that goes through the proxies of this machine, and tells each request in a debug line. */
function fetcher({ apiUrl, proxies, clock, debug, }) {
    let dispatcher;
    const connected = () => {
        const base = new URL(apiUrl);
        const proxy = base.protocol === 'https:' ? (0,_service_proxy_js__WEBPACK_IMPORTED_MODULE_4__/* .proxyFor */ .i)(base, proxies) : undefined;
        return new undici__WEBPACK_IMPORTED_MODULE_1__/* .Agent */ .g6({ connect: (0,_service_connect_js__WEBPACK_IMPORTED_MODULE_3__/* .connector */ .M3)((0,undici__WEBPACK_IMPORTED_MODULE_1__/* .buildConnector */ .gU)({}), proxy).connect });
    };
    return async (url, init) => {
        dispatcher ??= connected();
        const start = clock.now();
        const line = `${init.method} ${new URL(url).pathname}`;
        try {
            const answer = await (0,undici__WEBPACK_IMPORTED_MODULE_1__/* .fetch */ .hd)(url, { ...init, dispatcher });
            debug(`${line} ${answer.status} ${Math.round(clock.now() - start)} ms`);
            return answer;
        }
        catch (thrown) {
            debug(`${line} failed ${Math.round(clock.now() - start)} ms`);
            throw thrown;
        }
    };
}
function quiet() {
    // Octokit's own log would go to the step's, unescaped.
}
//# sourceMappingURL=client.js.map

/***/ }),

/***/ 6135:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   M3: () => (/* binding */ connector),
/* harmony export */   Of: () => (/* binding */ refusalOf),
/* harmony export */   Z9: () => (/* binding */ wordsOf)
/* harmony export */ });
/* harmony import */ var node_http__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7067);
/* harmony import */ var node_https__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(4708);
/* harmony import */ var node_net__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7030);
/* harmony import */ var _escape_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(8622);
/** Opens the connection: directly, or through an HTTP proxy's CONNECT tunnel. */




/**
 * A connection that was not made.
 *
 * It never has one of undici's own error codes: on some of those its client tries again by itself, without a pause
 * and without end (nodejs/undici#3897).
 */
class ConnectError extends Error {
    refusal;
    constructor(message, refusal, options) {
        super(message, options);
        this.refusal = refusal;
    }
}
/** Makes undici's connector, and a function that ends what it has under way. */
function connector(direct, proxy) {
    const underWay = new AbortController();
    const connect = (options, callback) => {
        const done = (error, socket) => {
            if (error === null && socket !== null)
                callback(null, socket);
            else
                callback(asConnectError(error), null);
        };
        if (proxy === undefined)
            return direct(options, done);
        const host = (0,node_net__WEBPACK_IMPORTED_MODULE_2__.isIP)(options.hostname) === 6 ? `[${options.hostname}]` : options.hostname;
        openTunnel(proxy, `${host}:${options.port || 443}`, underWay.signal).then((httpSocket) => direct({ ...options, httpSocket }, done), (error) => done(error, null));
    };
    return { connect, cancel: () => underWay.abort() };
}
/**
 * Asks a proxy for a tunnel (RFC 9110, 9.3.6).
 *
 * @param target `host:port`
 * @throws ConnectError where the proxy can't be reached, refuses, or ends the connection: nothing was sent then.
 */
function openTunnel(proxy, target, signal) {
    const name = `the proxy ${proxy.host}`;
    const secure = proxy.protocol === 'https:';
    const user = `${decoded(proxy.username)}:${decoded(proxy.password)}`;
    const host = proxy.hostname.replace(/^\[|\]$/g, '');
    return new Promise((resolve, reject) => {
        const request = (secure ? node_https__WEBPACK_IMPORTED_MODULE_1__.request : node_http__WEBPACK_IMPORTED_MODULE_0__.request)({
            method: 'CONNECT',
            host,
            // Else Node takes the name in the certificate from the header below, which is the target's.
            servername: (0,node_net__WEBPACK_IMPORTED_MODULE_2__.isIP)(host) ? '' : host,
            port: proxy.port || (secure ? 443 : 80),
            path: target,
            headers: {
                host: target,
                ...(user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
            },
            agent: false,
            signal,
        });
        request.once('connect', (answer, socket) => {
            const status = answer.statusCode ?? 0;
            if (status >= 200 && status < 300)
                return resolve(socket);
            socket.destroy();
            reject(new ConnectError(`${name} answered ${status} to CONNECT`, status === 407 ? 'proxy-authentication' : undefined));
        });
        request.once('error', (error) => reject(new ConnectError(`${name}: ${wordsOf(error)}`, certificateRefusal(error), { cause: error })));
        request.end();
    });
}
/** A part of an address, percent-decoded where it can be. */
function decoded(part) {
    try {
        return decodeURIComponent(part);
    }
    catch {
        return part;
    }
}
function asConnectError(error) {
    if (error instanceof ConnectError)
        return error;
    const words = error === null ? 'no connection' : wordsOf(error);
    return new ConnectError(words, certificateRefusal(error), { cause: error });
}
/** Why the connection will never come to be, where the error says so. */
function refusalOf(error) {
    return error instanceof ConnectError ? error.refusal : undefined;
}
/**
 * An error of the network in words, on one line. An AggregateError (several addresses were tried) has them in its
 * parts; OpenSSL's have a short reason beside a message that names its source files.
 */
function wordsOf(error) {
    const parts = error instanceof AggregateError ? error.errors.map(({ message }) => message) : [];
    const { code, reason } = error;
    const tls = code?.startsWith('ERR_SSL') && reason ? `TLS: ${reason}` : '';
    return (0,_escape_js__WEBPACK_IMPORTED_MODULE_3__/* .oneLine */ .TN)(tls || error.message || [...new Set(parts)].join('; ') || error.name);
}
/** The codes by which Node tells that a certificate does not hold (nodejs.org/api/tls.html, X509 certificate error codes). */
const CERTIFICATE_ERRORS = new Set([
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'CERT_CHAIN_TOO_LONG',
    'CERT_HAS_EXPIRED',
    'CERT_NOT_YET_VALID',
    'CERT_REJECTED',
    'CERT_REVOKED',
    'CERT_SIGNATURE_FAILURE',
    'CERT_UNTRUSTED',
    'CRL_HAS_EXPIRED',
    'CRL_NOT_YET_VALID',
    'CRL_SIGNATURE_FAILURE',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERROR_IN_CERT_NOT_AFTER_FIELD',
    'ERROR_IN_CERT_NOT_BEFORE_FIELD',
    'ERROR_IN_CRL_LAST_UPDATE_FIELD',
    'ERROR_IN_CRL_NEXT_UPDATE_FIELD',
    'HOSTNAME_MISMATCH',
    'INVALID_CA',
    'INVALID_PURPOSE',
    'PATH_LENGTH_EXCEEDED',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
    'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
    'UNABLE_TO_DECRYPT_CRL_SIGNATURE',
    'UNABLE_TO_GET_CRL',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
function certificateRefusal(error) {
    return error !== null && 'code' in error && CERTIFICATE_ERRORS.has(String(error.code))
        ? 'certificate'
        : undefined;
}
//# sourceMappingURL=connect.js.map

/***/ }),

/***/ 49:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   i: () => (/* binding */ proxyFor)
/* harmony export */ });
/* harmony import */ var _actions_http_client_lib_proxy__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(9783);
/* harmony import */ var _errors_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(7406);
/** Which proxy an address has. */


/**
 * The proxy for an address; none for loopback, and none where NO_PROXY names it.
 *
 * @throws ActionError `network` where the variable holds no address of an HTTP proxy: going around it could be wrong.
 */
function proxyFor(address, variables) {
    const variable = variables.find(({ value }) => value.trim() !== '');
    if (variable === undefined || (0,_actions_http_client_lib_proxy__WEBPACK_IMPORTED_MODULE_0__/* .checkBypass */ .H)(address))
        return undefined;
    const value = variable.value.trim();
    const text = value.includes('://') ? value : `http://${value}`; // As curl reads it.
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url !== undefined && /^https?:$/.test(url.protocol))
        return url;
    throw new _errors_js__WEBPACK_IMPORTED_MODULE_1__/* .ActionError */ .lZ('network', `${variable.name} holds no address of an HTTP proxy. Nothing was sent.`, 'Write it as http://host:port or http://user:password@host:port, or name the service in NO_PROXY.');
}
//# sourceMappingURL=proxy.js.map

/***/ }),

/***/ 6634:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Q: () => (/* binding */ HttpClient)
/* harmony export */ });
/**
 * Stands in the bundle for `@actions/http-client`: `@actions/core` needs it only to fetch OIDC tokens, which this action
 * does not, and `@actions/github` only for proxies, for which `github/client.ts` has a fetch of its own. Without it a
 * run loads no HTTP library before it has read its inputs. See `paths` in tsconfig.json.
 */
class HttpClient {
    /** No agent: Octokit then takes the fetch that it is given. */
    getAgent() {
        return undefined;
    }
    getAgentDispatcher() {
        return undefined;
    }
}
//# sourceMappingURL=unused-http-client.js.map

/***/ })

};
