import { request } from 'undici'
import type { Outbound, OutboundLimits } from '#infra/outbound/dispatcher.ts'
import type { AttemptEnd } from '#relay/pipeline/call-upstream.ts'
import { retryAfterOf } from '#relay/pipeline/call-upstream.ts'
import { type ProviderTarget, sideRequest } from '#relay/providers/openai-compatible/target.ts'

/** A task is taken at once, or it is not; its picture may take a while to upload. */
export const TASK_LIMITS: OutboundLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 60_000,
  bodyTimeoutMs: 20_000,
  maxResponseBytes: 4 * 1024 * 1024,
}

const WHOLE_MS = 90_000

export type Question = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: Buffer
}

/** One question to a task's provider; redirects are not followed. Never throws. */
export async function askUpstream(
  { dispatcher }: Pick<Outbound, 'dispatcher'>,
  target: ProviderTarget,
  { method, path, body }: Question,
  signal: AbortSignal = AbortSignal.timeout(WHOLE_MS),
): Promise<AttemptEnd> {
  const { url, headers } = sideRequest(target, path, { isBeside: false })
  const sent = body === undefined ? {} : { 'content-type': 'application/json' }
  let status: number | null = null
  try {
    const answer = await request(url, {
      dispatcher,
      method,
      headers: { ...headers, ...sent },
      signal,
      ...(body === undefined ? {} : { body }),
    })
    status = answer.statusCode
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    if (status >= 200 && status <= 299) return { kind: 'plain', status, body: bytes }
    const retryAfterMs = retryAfterOf(answer.headers['retry-after'], Date.now())
    return { kind: 'failed', status, error: 'status', body: bytes, retryAfterMs }
  } catch (error) {
    return { ...NO_ANSWER, status, error: errorOf(error, status !== null) }
  }
}

const NO_ANSWER = { kind: 'failed', body: Buffer.alloc(0), retryAfterMs: 0 } as const

const UNREACHED = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ECONNREFUSED', 'OUTBOUND_REFUSED'])

/** `connect` alone says that nothing was sent. */
function errorOf(error: unknown, hasBegun: boolean): 'connect' | 'timeout' | 'cut' | 'too-large' {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'too-large'
  const isUnreached = UNREACHED.has(String(code)) || /^E(NOTFOUND|AI_AGAIN|HOST)/.test(String(code))
  if (isUnreached && !hasBegun) return 'connect'
  return name === 'TimeoutError' || /TIMEOUT/.test(String(code)) ? 'timeout' : 'cut'
}
