export const id = 168;
export const ids = [168];
export const modules = {

/***/ 8168:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  agentService: () => (/* binding */ agentService)
});

// EXTERNAL MODULE: ./node_modules/zod/v4/mini/schemas.js + 10 modules
var schemas = __webpack_require__(8050);
// EXTERNAL MODULE: ./build/src/escape.js
var src_escape = __webpack_require__(8622);
// EXTERNAL MODULE: ./build/src/job.js
var job = __webpack_require__(7502);
// EXTERNAL MODULE: ./node_modules/undici/index.js
var undici = __webpack_require__(6752);
// EXTERNAL MODULE: ./build/src/service/connect.js
var service_connect = __webpack_require__(6135);
;// CONCATENATED MODULE: ./build/src/service/http.js
/** One HTTP request to one origin, and exactly how far it got: that decides whether it may be sent again. */


/** The largest answer that is read, in bytes. */
const ANSWER_LIMIT = 1024 * 1024;
/** How long the parts of a request may take, in milliseconds. */
const LIMITS = {
    /** Until the first byte of the request can leave: address look-up, TCP, proxy, TLS. */
    connect: 10_000,
    POST: 60_000,
    GET: 30_000,
    /** How long the answer to a POST is waited for after a cancel: it alone tells the job's id. */
    cancelledPost: 5_000,
};
/**
 * Makes a client for one origin.
 *
 * A POST always opens a connection of its own: on a kept one the server may close at the very moment the request
 * leaves, and nobody could tell whether it was read (RFC 9112, 9.3.1). The GETs that follow share that connection,
 * kept for longer than any usual poll interval.
 *
 * Neither a deadline nor a cancel is left to undici: they destroy its client from outside.
 *
 * @param origin `https://host:port`
 * @param stop ends every request
 * @param proxy the proxy for this origin, if any
 */
function httpClient(origin, stop, proxy) {
    let connection;
    const connected = () => {
        connection ??= openConnection(origin, proxy);
        return connection;
    };
    const close = () => {
        connection?.destroy();
        connection = undefined;
    };
    const send = async (request) => {
        if (request.method === 'POST')
            close();
        const result = await exchange(connected(), request, stop);
        if (result.kind !== 'answer')
            close();
        return result;
    };
    return { send, close };
}
function openConnection(origin, proxy) {
    const { connect, cancel } = (0,service_connect/* connector */.M3)((0,undici/* buildConnector */.gU)({}), proxy);
    const client = new undici/* Client */.Kj(origin, {
        connect,
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: 65_000,
        keepAliveMaxTimeout: 3_600_000,
        pipelining: 1,
    });
    const destroy = () => {
        cancel();
        void client.destroy();
    };
    return { client, destroy };
}
/** Sends one request and settles once: with an answer, a fault, the end of its time, or a stop. */
function exchange(connection, request, stop) {
    return new Promise((resolve) => {
        const answer = new AnswerReader();
        let sent = false;
        let timer;
        const settle = (result) => {
            clearTimeout(timer);
            stop.signal.removeEventListener('abort', onStop);
            resolve(result);
        };
        const fail = (reason, cause) => settle(sent ? { kind: 'lost', reason, cause } : { kind: 'unsent', reason, refusal: (0,service_connect/* refusalOf */.Of)(cause), cause });
        const within = (milliseconds, end) => {
            clearTimeout(timer);
            timer = setTimeout(end, milliseconds);
        };
        const onStop = () => {
            const end = () => settle({ kind: 'stopped', sent });
            const left = stop.remainingMs();
            if (request.method === 'POST' && sent && stop.cancelled() && left > 0) {
                within(Math.min(LIMITS.cancelledPost, left), end);
            }
            else {
                end();
            }
        };
        if (stop.signal.aborted)
            return resolve({ kind: 'stopped', sent: false });
        stop.signal.addEventListener('abort', onStop);
        within(LIMITS.connect, () => fail(`no connection within ${LIMITS.connect / 1000} s`, undefined));
        connection.client.dispatch({ method: request.method, path: request.path, headers: request.headers, body: request.body ?? null }, {
            // undici calls this directly before it writes the request to the socket.
            onRequestStart() {
                sent = true;
                const limit = LIMITS[request.method];
                within(limit, () => fail(`no whole answer within ${limit / 1000} s`, undefined));
            },
            onResponseStart(_controller, status, headers) {
                answer.start(status, headers);
            },
            onResponseData(_controller, chunk) {
                if (!answer.add(chunk))
                    fail('an answer of more than 1 MiB', undefined);
            },
            onResponseEnd() {
                settle(answer.result());
            },
            onResponseError(_controller, error) {
                fail((0,service_connect/* wordsOf */.Z9)(error), error);
            },
        });
    });
}
/** Collects an answer, up to the limit, in one buffer: a service may send it byte by byte. */
class AnswerReader {
    #status = 0;
    #headers = {};
    #bytes = Buffer.alloc(1024);
    #length = 0;
    /** Also called for informational answers (1xx), which the final one replaces. */
    start(status, headers) {
        this.#status = status;
        this.#headers = Object.fromEntries(Object.entries(headers).map(([name, value]) => [
            name.toLowerCase(),
            Array.isArray(value) ? value[0] : value,
        ]));
    }
    /** Whether the answer is still within the limit. */
    add(chunk) {
        const length = this.#length + chunk.length;
        if (length > ANSWER_LIMIT)
            return false;
        if (length > this.#bytes.length) {
            const larger = Buffer.alloc(Math.min(ANSWER_LIMIT, Math.max(length, this.#bytes.length * 2)));
            this.#bytes.copy(larger);
            this.#bytes = larger;
        }
        chunk.copy(this.#bytes, this.#length);
        this.#length = length;
        return true;
    }
    result() {
        const body = new TextDecoder().decode(this.#bytes.subarray(0, this.#length));
        return { kind: 'answer', status: this.#status, headers: this.#headers, body };
    }
}
//# sourceMappingURL=http.js.map
// EXTERNAL MODULE: ./build/src/service/proxy.js
var proxy = __webpack_require__(49);
;// CONCATENATED MODULE: ./build/src/service/api.js
/** The agent service: its three endpoints, the shape of its answers, and its own words where it refuses. */





/**
 * Connects to the service; nothing is sent yet.
 *
 * @throws ActionError `network` where the proxy variables hold no proxy
 */
function agentService(options) {
    const base = new URL(options.baseUrl);
    const prefix = base.pathname.replace(/\/+$/, '');
    const client = httpClient(base.origin, options.stop, (0,proxy/* proxyFor */.i)(base, options.proxies));
    const jobs = `${prefix}/v2/agent/${encodeURIComponent(options.projectId)}/job`;
    const headers = {
        accept: 'application/json',
        'accept-encoding': 'identity',
        authorization: `Bearer ${options.apiKey}`,
        'user-agent': 'agent-job-action',
    };
    const send = async (request) => {
        const start = options.now();
        const result = await client.send(request);
        const outcome = result.kind === 'answer' ? result.status : result.kind;
        options.debug(`${request.method} ${request.path} ${outcome} ${Math.round(options.now() - start)} ms`);
        return result.kind === 'answer' ? read(result, options.redact) : result;
    };
    const post = (path, prompt) => send({
        method: 'POST',
        path,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ prompt }),
    });
    return {
        create: (prompt) => post(jobs, prompt),
        message: (jobId, prompt) => post(`${jobs}/${encodeURIComponent(jobId)}/message`, prompt),
        look: (jobId) => send({ method: 'GET', path: `${jobs}/${encodeURIComponent(jobId)}`, headers }),
        close: client.close,
    };
}
/** No field is declared required: `id` and `status` are demanded, `prLink` is taken where it is a text. */
const jobSchema = schemas/* object */.Ikc({
    id: schemas/* string */.YjP().check(schemas/* refine */.YPB(job/* isId */.eQ)),
    status: schemas/* string */.YjP(),
    prLink: schemas/* catch */.MfU(schemas/* string */.YjP(), ''),
});
const errorSchema = schemas/* object */.Ikc({ error: schemas/* string */.YjP() });
function read(answer, redact) {
    if (answer.status < 200 || answer.status > 299) {
        const retryAfter = answer.headers['retry-after'];
        return { kind: 'refused', status: answer.status, words: wordsOf(answer, redact), retryAfter };
    }
    const received = parseJson(answer.body);
    const parsed = jobSchema.safeParse(received);
    if (!parsed.success)
        return { kind: 'no-job', words: wordsOf(answer, redact) };
    const { id, status, prLink } = parsed.data;
    const link = redact(prLink) === prLink ? (0,job/* safeLink */.o3)(prLink) : '';
    return {
        kind: 'job',
        job: {
            id,
            word: (0,src_escape/* clip */.$Q)(redact(status), 80),
            status: (0,job/* isStatus */.zM)(status) ? status : undefined,
            link,
            linkRefused: prLink !== '' && link === '',
            received,
        },
    };
}
/** The answer in words: its status, and what the service says with it. The key is taken out before they are cut. */
function wordsOf(answer, redact) {
    const { status, headers, body } = answer;
    if (status >= 300 && status <= 399) {
        const location = (0,src_escape/* clip */.$Q)(redact(headers.location ?? ''), 200);
        return location === '' ? `${status}, without an address` : `${status}, to ${(0,src_escape/* quote */.hD)(location)}`;
    }
    const parsed = errorSchema.safeParse(parseJson(body));
    const text = (0,src_escape/* clip */.$Q)(redact(parsed.success ? parsed.data.error : body), 4000);
    const words = (0,src_escape/* clip */.$Q)((0,src_escape/* oneLine */.TN)(parsed.success ? text : withoutTags(text)), 500);
    return words === '' ? `${status}, without a word` : `${status}: ${words}`;
}
/** What an HTML page says, as gateways answer in front of a service. */
function withoutTags(text) {
    return text.replace(/<(style|script|head)\b.*?<\/\1>/gis, ' ').replace(/<[^>]*>/g, ' ');
}
function parseJson(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return undefined;
    }
}
//# sourceMappingURL=api.js.map

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

/***/ })

};
