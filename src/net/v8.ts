/** Tunes V8 for short runs. */

import { setFlagsFromString } from 'node:v8'

/**
 * The major versions of Node that the flag was measured on. Node documents that V8 flags may change
 * or crash between versions (nodejs.org/api/v8.html, v8.setFlagsFromString), so the flag is set on
 * no other.
 */
const MEASURED_MAJORS = ['20', '24']

/**
 * Stops V8 from optimizing undici's parser, which is WebAssembly, on another thread. V8 would start
 * at the second response, and use more CPU time for it than the rest of such a short run.
 *
 * Called once the first connection is open, directly before undici compiles the parser. Earlier, V8
 * would compile Node's own modules again, because their code cache belongs to other flags.
 * [net.cheap]
 */
export function skipWasmOptimization(version = process.versions.node): void {
  const [major = ''] = version.split('.')
  if (MEASURED_MAJORS.includes(major)) setFlagsFromString('--wasm-tiering-budget=1000000000')
}
