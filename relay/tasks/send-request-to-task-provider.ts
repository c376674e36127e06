import { type Dispatcher, request } from 'undici'
import type { Outbound, OutboundLimits } from '#infra/outbound/outbound-connections.ts'
import { ProxyFailed } from '#infra/outbound/proxy-connector.ts'
import type { AttemptEvidence } from '#relay/pipeline/attempt-evidence.ts'
import { retryAfterOf } from '#relay/pipeline/headers-of-answer.ts'
import type { AttemptEnd } from '#relay/pipeline/upstream-attempt.ts'
import {
  type ProviderTarget,
  providerRequest,
} from '../providers/openai-compatible/provider-target.ts'
import type { StreamedBody } from '../uploads/provider-form.ts'

/**
 * The limits of requests about tasks. Providers answer such a request immediately, but the upload
 * of a picture may take longer.
 */
export const TASK_LIMITS: OutboundLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 60_000,
  bodyTimeoutMs: 20_000,
  maxResponseBytes: 4 * 1024 * 1024,
}

const TOTAL_MS = 90_000

export type ProviderRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: Buffer
  /** A form that is sent in place of `body`. */
  readonly form?: StreamedBody
  /** Collects what the request and its answer show about the provider. */
  readonly evidence?: AttemptEvidence
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** Returns the headers that prove the key, in place of the key itself. */
  readonly sign?: (request: {
    readonly url: URL
    readonly method: string
    readonly body: Buffer
  }) => Readonly<Record<string, string>>
}

/** Sends one request without following redirects. Failures are returned, never thrown. */
export async function sendTaskRequest(
  { via }: Pick<Outbound, 'via'>,
  target: ProviderTarget,
  { method, path, body, form, headers: own = {}, sign, evidence }: ProviderRequest,
  signal: AbortSignal = AbortSignal.timeout(TOTAL_MS),
): Promise<AttemptEnd> {
  const { url, headers } = providerRequest(target, path, { isUnversioned: false })
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  const proof = sign?.({ url: new URL(url), method, body: body ?? Buffer.alloc(0) }) ?? {}
  const ofForm =
    form === undefined
      ? {}
      : { 'content-type': form.contentType, 'content-length': `${form.length}` }
  const sent = { ...content, ...ofForm, ...own, ...proof }
  let status: number | null = null
  let isSent = false
  const onSent = (): void => {
    isSent = true
  }
  const noteUploaded = (chunk: Buffer): void => evidence?.noteUploaded(chunk)
  if (body !== undefined) evidence?.noteSent(body)
  try {
    const answer = await request(url, {
      dispatcher: via(target.proxy).dispatcher.compose(onRequestSent(onSent)),
      method,
      headers: { ...headers, ...sent },
      signal,
      ...(body === undefined ? {} : { body }),
      ...(form === undefined ? {} : { body: form.open(noteUploaded), headersTimeout: 0 }),
    })
    status = answer.statusCode
    evidence?.noteHeaders(answer.headers)
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    if (bytes.length > 0) evidence?.noteReceived(bytes)
    if (isGood(status)) return { kind: 'plain', status, body: bytes }
    const retryAfterMs = retryAfterOf(answer.headers['retry-after'], Date.now())
    return { kind: 'failed', status, error: 'status', body: bytes, retryAfterMs }
  } catch (error) {
    // The body could not be read. It is not needed for an error status.
    if (status !== null && !isGood(status)) return { ...NO_ANSWER, status, error: 'status' }
    if (isSent) return { ...NO_ANSWER, status, error: errorOf(error) }
    const unreached = { ...NO_ANSWER, status, error: 'connect' } as const
    return error instanceof ProxyFailed ? { ...unreached, isProxy: true } : unreached
  }
}

const isGood = (status: number): boolean => status >= 200 && status <= 299

const NO_ANSWER = { kind: 'failed', body: Buffer.alloc(0), retryAfterMs: 0 } as const

/**
 * Calls `onSent` when the connection is open. From then on, the provider may have received the
 * request.
 */
const onRequestSent =
  (onSent: () => void): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const { onRequestStart } = handler
    handler.onRequestStart = (...start) => {
      onSent()
      onRequestStart?.apply(handler, start)
    }
    return dispatch(options, handler)
  }

function errorOf(error: unknown): 'timeout' | 'cut' | 'too-large' {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'too-large'
  return name === 'TimeoutError' || /TIMEOUT/.test(String(code)) ? 'timeout' : 'cut'
}
