import { request } from 'undici'
import { onRequestStart } from '#infra/outbound/on-request-start.ts'
import type { Connections, Outbound, OutboundLimits } from '#infra/outbound/outbound-connections.ts'
import { ProxyFailed } from '#infra/outbound/proxy-connector.ts'
import { retryAfterInBody } from '#relay/canonical/retry-delay-and-list-form-of-google-errors.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import type { AttemptEvidence } from '#relay/pipeline/provider-evidence-of-attempt.ts'
import { retryAfterIn } from '#relay/pipeline/read-retry-delay-and-request-id.ts'
import { headersByName } from '../providers/header-list.ts'
import { type ProviderTarget, providerRequest } from '../providers/profiles/provider-target.ts'
import { CredentialsError } from '../providers/provider-access-and-decoder-types.ts'
import type { StreamedBody } from '../uploads/write-form-for-provider.ts'
import { withShortTexts } from './shorten-or-decode-texts-in-json-stream.ts'

/**
 * The time and size limits of requests about tasks. Providers respond to such a request
 * immediately, but the upload of a picture may take longer.
 */
export const TASK_LIMITS: OutboundLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 60_000,
  bodyTimeoutMs: 20_000,
  maxResponseBytes: 4 * 1024 * 1024,
}

const TOTAL_MS = 90_000
const NOTHING = Buffer.alloc(0)
/** The maximum length in bytes to which texts are cut in a response that may contain a file. */
const TEXT_BYTES_MAX = 16_384

export type ProviderRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: Buffer
  /** A form that is sent in place of `body`. */
  readonly form?: StreamedBody
  /**
   * Collects identifiers and digests of the request and the response, which later prove what was
   * sent and received.
   */
  readonly evidence?: AttemptEvidence
  readonly headers?: Readonly<Record<string, string>>
  /**
   * The provider's name for the model. It is needed for clouds, where the URL depends on the model.
   */
  readonly model?: string
  /**
   * True if the response may contain a file as a long text. Long texts are then cut while they
   * arrive.
   */
  readonly hasLongTexts?: true
  /**
   * Returns the headers that authenticate the request, for example a signature. Omitted if the key
   * itself is sent.
   */
  readonly sign?: (request: {
    readonly url: URL
    readonly method: string
    readonly body: Buffer
  }) => Readonly<Record<string, string>>
}

type Addressed = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Returns the URL of a request and the headers that authenticate it. Rejects with a
 * `CredentialsError` if a cloud gave no credentials.
 */
export async function addressTaskRequest(
  target: ProviderTarget,
  { path, body = NOTHING, model = '' }: Pick<ProviderRequest, 'path' | 'body' | 'model'>,
  connections: Connections,
): Promise<Addressed> {
  const { cloud } = target
  if (cloud === null) return providerRequest(target, path, { isUnversioned: false })
  const filled = cloud.fillPath(path, model)
  const { pathname, search } = new URL(
    providerRequest(target, filled, { isUnversioned: false }).url,
  )
  const headers = ['accept-encoding', 'identity', 'user-agent', 'tallygate']
  const { origin } = new URL(cloud.baseUrlFor(model))
  const call = { origin, path: `${pathname}${search}`, headers, body }
  const sent = await cloud.authorize(call, connections)
  return { url: `${sent.origin}${sent.path}`, headers: headersByName(sent.headers) }
}

/**
 * Sends one request to a provider. Redirects are not followed. Failures of the provider, of the
 * connection and of a cloud's credentials are returned and never thrown.
 */
export async function sendTaskRequest(
  { via }: Pick<Outbound, 'via'>,
  target: ProviderTarget,
  sent: ProviderRequest,
  signal: AbortSignal = AbortSignal.timeout(TOTAL_MS),
): Promise<AttemptEnd> {
  const connections = via(target.proxy)
  let addressed: Addressed
  try {
    addressed = await addressTaskRequest(target, sent, connections)
  } catch (error) {
    if (!(error instanceof CredentialsError)) throw error
    const { status, body } = error
    if (status === null) return { ...NO_ANSWER, status, error: 'connect' }
    return { ...NO_ANSWER, status, error: 'status', body }
  }
  const end = await sendAddressed(connections, addressed, sent, signal)
  if (end.status === 401) target.cloud?.dropCredentials()
  return end
}

async function sendAddressed(
  { dispatcher }: Connections,
  { url, headers }: Addressed,
  { method, body, form, headers: own = {}, sign, evidence, hasLongTexts }: ProviderRequest,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  const proof = sign?.({ url: new URL(url), method, body: body ?? NOTHING }) ?? {}
  const ofForm =
    form === undefined
      ? {}
      : { 'content-type': form.contentType, 'content-length': `${form.length}` }
  const sent = { ...content, ...ofForm, ...own, ...proof }
  let status: number | null = null
  let isSent = false
  const onStart = (): void => {
    isSent = true
  }
  const noteUploaded = (chunk: Buffer): void => evidence?.noteUploaded(chunk)
  if (body !== undefined) evidence?.noteSent(body)
  try {
    const answer = await request(url, {
      dispatcher: dispatcher.compose(onRequestStart(onStart)),
      method,
      headers: { ...headers, ...sent },
      signal,
      ...(body === undefined ? {} : { body }),
      ...(form === undefined ? {} : { body: form.open(noteUploaded), headersTimeout: 0 }),
    })
    status = answer.statusCode
    evidence?.noteHeaders(answer.headers)
    const bytes = hasLongTexts
      ? await readShortened(answer.body)
      : Buffer.from(await answer.body.arrayBuffer())
    if (bytes.length > 0) evidence?.noteReceived(bytes)
    if (isGood(status)) return { kind: 'plain', status, body: bytes }
    const retryAfterMs = retryAfterIn(answer.headers, Date.now()) || retryAfterInBody(bytes)
    return { kind: 'failed', status, error: 'status', body: bytes, retryAfterMs }
  } catch (error) {
    // The body of the response could not be read. If the status is an error, the body is not
    // needed.
    if (status !== null && !isGood(status)) return { ...NO_ANSWER, status, error: 'status' }
    if (isSent) return { ...NO_ANSWER, status, error: errorOf(error) }
    const unreached = { ...NO_ANSWER, status, error: 'connect' } as const
    return error instanceof ProxyFailed ? { ...unreached, isProxy: true } : unreached
  }
}

/**
 * Reads a response of any length and cuts its long texts while they arrive. Returns the shortened
 * JSON document. Rejects with `AnswerTooLarge` if even this document is too long.
 */
async function readShortened(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of withShortTexts(body, TEXT_BYTES_MAX)) {
    length += part.length
    if (length > TASK_LIMITS.maxResponseBytes) throw new AnswerTooLarge()
    if (part.length > 0) parts.push(part)
  }
  return Buffer.concat(parts)
}

class AnswerTooLarge extends Error {}

const isGood = (status: number): boolean => status >= 200 && status <= 299

const NO_ANSWER = { kind: 'failed', body: NOTHING, retryAfterMs: 0 } as const

function errorOf(error: unknown): 'timeout' | 'cut' | 'too-large' {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  if (error instanceof AnswerTooLarge) return 'too-large'
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'too-large'
  return name === 'TimeoutError' || /TIMEOUT/.test(String(code)) ? 'timeout' : 'cut'
}
