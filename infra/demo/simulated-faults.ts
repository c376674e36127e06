import type { ServerResponse } from 'node:http'
import type { JournalEntry } from './received-requests.ts'

/**
 * A fault that the simulated provider produces. A request for the model `fault-<name>` always
 * triggers the fault `<name>`.
 */
export type Fault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly retryAfter?: string
      readonly code?: string
    }
  | { readonly kind: 'stall'; readonly at: 'before-headers' | 'after-headers' | 'mid-stream' }
  | { readonly kind: 'cut'; readonly afterChunks: number; readonly how: 'fin' | 'reset' }
  | { readonly kind: 'usage'; readonly usage: unknown }
  | { readonly kind: 'no-usage' }
  | { readonly kind: 'slow'; readonly msPerChunk: number }
  /** An error event that follows `afterChunks` chunks of the stream (default: 3). */
  | { readonly kind: 'error-in-stream'; readonly afterChunks?: number; readonly code?: string }
  | { readonly kind: 'no-done' }
  | { readonly kind: 'html' }
  | { readonly kind: 'json-for-stream' }
  | { readonly kind: 'garbage' }
  | { readonly kind: 'long-line'; readonly bytes: number }
  | { readonly kind: 'large'; readonly chunks: number }

const WRONG_USAGES: Record<string, unknown> = {
  negative: { prompt_tokens: -5, completion_tokens: -9, total_tokens: -14 },
  huge: { prompt_tokens: 1e30, completion_tokens: 1e30, total_tokens: 2e30 },
  text: { prompt_tokens: '12', completion_tokens: 'NaN', total_tokens: '12' },
  fraction: { prompt_tokens: 1.5, completion_tokens: 2.5, total_tokens: 4 },
  zero: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  half: { prompt_tokens: 12 },
  null: null,
}

const NAMED: Record<string, (argument: string) => Fault> = {
  status: (argument) => ({ kind: 'status', status: Number(argument) || 500 }),
  limited: (argument) => ({ kind: 'status', status: 429, retryAfter: argument || '1' }),
  stall: (argument) => ({
    kind: 'stall',
    at:
      argument === 'headers'
        ? 'before-headers'
        : argument === 'body'
          ? 'after-headers'
          : 'mid-stream',
  }),
  cut: (argument) => ({ kind: 'cut', afterChunks: Number(argument) || 0, how: 'fin' }),
  reset: (argument) => ({ kind: 'cut', afterChunks: Number(argument) || 0, how: 'reset' }),
  usage: (argument) => ({
    kind: 'usage',
    usage: Object.hasOwn(WRONG_USAGES, argument) ? WRONG_USAGES[argument] : WRONG_USAGES.negative,
  }),
  nousage: () => ({ kind: 'no-usage' }),
  nodone: () => ({ kind: 'no-done' }),
  slow: (argument) => ({ kind: 'slow', msPerChunk: Number(argument) || 200 }),
  error: () => ({ kind: 'error-in-stream' }),
  html: () => ({ kind: 'html' }),
  json: () => ({ kind: 'json-for-stream' }),
  garbage: () => ({ kind: 'garbage' }),
  line: (argument) => ({ kind: 'long-line', bytes: Number(argument) || 8 << 20 }),
  large: (argument) => ({ kind: 'large', chunks: Number(argument) || 100_000 }),
}

/** Returns the fault for a model name such as `fault-cut-3`; null for any other name. */
export function faultOfModel(model: string): Fault | null {
  const match = /^fault-([a-z]+)(?:-([a-z0-9]+))?$/.exec(model)
  const make = match?.[1] !== undefined && Object.hasOwn(NAMED, match[1]) ? NAMED[match[1]] : null
  return make ? make(match?.[2] ?? '') : null
}

/**
 * Sends the response of a fault that replaces the whole answer. Returns false for a fault of
 * another kind, which the caller must produce.
 */
export function answerPlainFault(
  response: ServerResponse,
  entry: JournalEntry,
  fault: Fault,
): boolean {
  switch (fault.kind) {
    case 'status': {
      entry.status = fault.status
      entry.outcome = 'failed'
      const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
      response.writeHead(fault.status, { 'content-type': 'application/json', ...headers })
      const message = `simulated ${fault.status} for key sk-provider-secret-0123456789`
      const { code = 'simulated' } = fault
      response.end(JSON.stringify({ error: { message, type: 'simulated', code } }))
      return true
    }
    case 'stall':
      if (fault.at === 'mid-stream') return false
      if (fault.at === 'after-headers') {
        entry.status = 200
        const type = entry.isStream ? 'text/event-stream' : 'application/json'
        response.writeHead(200, { 'content-type': type })
        response.flushHeaders()
      }
      return true
    case 'html':
      entry.status = 200
      entry.outcome = 'failed'
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<html><body>Bad gateway</body></html>')
      return true
    case 'cut':
      if (entry.isStream) return false
      return cutPlain(response, entry, fault.how)
    default:
      return false
  }
}

/**
 * Announces a response body of 1000 bytes, sends only a part of the body and closes the connection.
 */
function cutPlain(response: ServerResponse, entry: JournalEntry, how: 'fin' | 'reset'): true {
  entry.status = 200
  entry.outcome = 'cut'
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
  response.write('{"id":"chatcmpl-simulated","choices":[', () => {
    if (how === 'reset') response.socket?.resetAndDestroy()
    else response.destroy()
  })
  return true
}
