import type { IncomingHttpHeaders } from 'node:http'

/**
 * The headers of OpenAI's clients that are sent to the provider, besides those that begin with
 * `x-codex-`. They name the client, its version or a session, whose calls can use the same cache at
 * the provider.
 */
const PASSED: ReadonlySet<string> = new Set([
  ...['originator', 'session_id', 'session-id', 'thread-id', 'conversation_id', 'version'],
])
const BETA = 'openai-beta'
/** Matches a beta feature that concerns only the connection between the caller and the gateway. */
const WEBSOCKETS = /^responses_websockets=/i

/**
 * Returns the caller's headers that are sent to the provider, as a flat list of names and values.
 */
export function passedHeaders(headers: IncomingHttpHeaders): readonly string[] {
  const passed: string[] = []
  for (const name in headers) {
    if (!PASSED.has(name) && !name.startsWith('x-codex-') && name !== BETA) continue
    const value = String(headers[name])
    const kept = name === BETA ? betasOfRequest(value) : value
    if (kept !== '') passed.push(name, kept)
  }
  return passed
}

function betasOfRequest(list: string): string {
  const betas = list.split(',').map((beta) => beta.trim())
  const kept = betas.filter((beta) => !WEBSOCKETS.test(beta))
  return kept.length === betas.length ? list : kept.join(',')
}
