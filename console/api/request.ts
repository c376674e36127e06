import { currentLanguage, translate } from '#console/i18n/i18n.ts'
import type { ErrorEnvelope } from '#read-api/contract/response-envelope.ts'
import { ApiError } from './api-error.ts'
import { currentScratchCopy, markScratchCopyDeleted } from './scratch-copy.ts'
import { recordResponse } from './server-availability.ts'
import { expireSession, renewSession, storedUser, watchSession } from './session.ts'

export type QueryValue = string | number | boolean | undefined | null

export type ApiRequest = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  /** The query parameters. A parameter that is undefined, null or empty is not sent. */
  query?: Readonly<Record<string, QueryValue>>
  body?: unknown
  /** A CSV file, which is the body of the request. */
  file?: Blob
  /**
   * The position of an event. The server waits with its response until its read models include all
   * events up to this position.
   */
  afterPosition?: number | undefined
  signal?: AbortSignal | undefined
  /**
   * The idempotency key. The server executes only the first of several requests with the same key.
   * A request with a key can therefore safely be repeated.
   */
  idempotencyKey?: string
  /**
   * True for a request that always reads from the live site. While a scratch copy (the site as of
   * an earlier time) is open, all other requests read from this copy.
   */
  isLive?: boolean
  /** True for a request that ends the current session and returns a new one. */
  renewsSession?: boolean
}

export type ApiAnswer<T> = {
  data: T
  position: number | null
  message: string
  /** The complete body of the response. A few routes send other fields besides `data`. */
  envelope: Readonly<Record<string, unknown>>
}

export type ListPage<Row> = { items: Row[]; page: number; total: number }

export type ListSort = {
  readonly sort?: string
  readonly order?: 'asc' | 'desc'
}

/**
 * The event log position of the last change that a request of this tab has made. Later reads of
 * this tab wait for this position, so that their responses include the change.
 */
let writtenPosition = 0

/**
 * Sends a request and returns the parsed response. Throws a translated `ApiError` if the request
 * fails, or the browser's error if the request is aborted. After a 401, the stored user is removed
 * as `expireSession` describes.
 */
export async function request<T>(call: ApiRequest): Promise<ApiAnswer<T>> {
  const user = storedUser()
  const response = await send(call, user?.id ?? null)
  const requestId = response.headers.get('x-request-id') ?? ''
  const envelope = await readEnvelope(response)
  recordResponse(response.status, retryAfterMs(response))
  if (!response.ok) throw apiErrorOf(response, envelope, user)
  if (envelope?.success !== true) {
    const message = envelope?.message || translate('request.failed')
    throw new ApiError(message, {
      code: envelope?.code ?? 'Refused',
      status: response.status,
      requestId,
      invalidField: envelope?.invalid_field,
    })
  }
  const position = positionOf(response)
  if (position !== null) writtenPosition = Math.max(writtenPosition, position)
  return { data: envelope.data as T, position, message: envelope.message ?? '', envelope }
}

const ROWS_PER_READ = 100
export const MATCHING_MAX = 1_000

/**
 * Reads the rows of a list page by page, without duplicates. Stops after the page that contains row
 * number `max`.
 */
export async function fetchAllPages<Row extends { id: number }>(
  readPage: (page: number, pageSize: number) => Promise<ListPage<Row>>,
  max = Number.POSITIVE_INFINITY,
): Promise<ListPage<Row>> {
  const found = new Map<number, Row>()
  for (let page = 0; page * ROWS_PER_READ < max; page += 1) {
    const { items, total } = await readPage(page, ROWS_PER_READ)
    for (const item of items) found.set(item.id, item)
    if ((page + 1) * ROWS_PER_READ >= total) break
  }
  return { items: [...found.values()], page: 0, total: found.size }
}

/**
 * Downloads a file as a stream of bytes. If the server rejects the request, throws the same error
 * as `request`.
 */
export async function requestFile(call: ApiRequest): Promise<ReadableStream<Uint8Array>> {
  const user = storedUser()
  const response = await send(call, user?.id ?? null)
  recordResponse(response.status, retryAfterMs(response))
  if (!response.ok) throw apiErrorOf(response, await readEnvelope(response), user)
  return response.body ?? new ReadableStream()
}

/**
 * Sends a request to the relay, the part of the server that forwards calls to AI providers. If the
 * relay responds with an error, throws an `ApiError` with the relay's message. This error does not
 * affect `ServerAvailability`, because the provider may have caused it.
 */
export async function requestStream(call: ApiRequest): Promise<Response> {
  const user = storedUser()
  const response = await send(call, user?.id ?? null)
  if (response.ok) return response
  if (response.status === 401 && user !== null) expireSession(user.id)
  const { error } = ((await readEnvelope(response)) ?? {}) as { error?: RawEnvelope }
  throw new ApiError(error?.message || httpMessage(response, ''), {
    code: error?.code ?? `Http${response.status}`,
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? '',
    retryAfterMs: retryAfterMs(response),
  })
}

/**
 * Returns a path with a query. Parameters that are undefined, null or empty are left out. The
 * others keep their order.
 */
export function pathWithQuery(path: string, query: ApiRequest['query']): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') params.append(key, String(value))
  }
  const text = params.toString()
  return text === '' ? path : `${path}?${text}`
}

/**
 * Sends a request. If the response is a 401 and the session was renewed in the meantime, sends the
 * request a second time.
 */
async function send(call: ApiRequest, userId: number | null): Promise<Response> {
  if (call.renewsSession) return renewSession(() => sendOnce(call, userId))
  const isRenewed = watchSession()
  const response = await sendOnce(call, userId)
  return response.status === 401 && (await isRenewed()) ? sendOnce(call, userId) : response
}

async function sendOnce(call: ApiRequest, userId: number | null): Promise<Response> {
  const method = call.method ?? 'GET'
  const headers = new Headers({
    Accept: 'application/json',
    'Accept-Language': currentLanguage(),
    'Cache-Control': 'no-store',
  })
  if (userId !== null) headers.set('User-Id', String(userId))
  const after = Math.max(call.afterPosition ?? 0, method === 'GET' ? writtenPosition : 0)
  if (after > 0) headers.set('X-After-Position', String(after))
  const copy = call.isLive === true ? null : currentScratchCopy()
  if (copy !== null) headers.set('X-Scratch-Copy', copy.id)
  if (call.body !== undefined) headers.set('Content-Type', 'application/json')
  if (call.file !== undefined) headers.set('Content-Type', 'text/csv')
  if (call.idempotencyKey !== undefined) headers.set('Idempotency-Key', call.idempotencyKey)
  try {
    return await fetch(pathWithQuery(call.path, call.query), {
      method,
      headers,
      cache: 'no-store',
      credentials: 'same-origin',
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.file === undefined ? {} : { body: call.file }),
      signal: call.signal ?? null,
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    recordResponse(0, null)
    throw new ApiError(translate('request.network'), { code: 'Network', status: 0 })
  }
}

type RawEnvelope = Partial<Omit<ErrorEnvelope, 'success' | 'data'>> & {
  success?: unknown
  data?: unknown
}

async function readEnvelope(response: Response): Promise<RawEnvelope | null> {
  try {
    const value: unknown = await response.json()
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}

function apiErrorOf(
  response: Response,
  envelope: RawEnvelope | null,
  user: ReturnType<typeof storedUser>,
): ApiError {
  if (response.status === 401 && user !== null) expireSession(user.id)
  if (envelope?.code === 'ScratchCopyUnknown') markScratchCopyDeleted()
  const requestId = response.headers.get('x-request-id') ?? ''
  return new ApiError(httpMessage(response, envelope?.message ?? ''), {
    code: envelope?.code ?? `Http${response.status}`,
    detail: envelope?.message ?? '',
    status: response.status,
    requestId,
    invalidField: envelope?.invalid_field,
    retryAfterMs: retryAfterMs(response),
  })
}

function httpMessage(response: Response, message: string): string {
  if (response.status === 401) return message || translate('auth.expired')
  if (response.status === 405) return translate('request.noServer')
  if (response.status === 429) return translate('request.health.busy')
  if (response.status === 500) return translate('request.serverError')
  return translate('request.other', { message: message || `HTTP ${response.status}` })
}

function retryAfterMs(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds * 1000 : null
}

function positionOf(response: Response): number | null {
  const text = response.headers.get('x-position')
  const position = text === null ? Number.NaN : Number(text)
  return Number.isSafeInteger(position) ? position : null
}
