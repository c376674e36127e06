import { randomBytes } from 'node:crypto'
import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { isObject, numericOf, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { isRelayError, notOneOf, type RelayError, relayError } from '../canonical/relay-error.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { isMembers, outOfRange } from '../dialects/read-common-request-members.ts'
import { scanObject } from '../dialects/scan-request-object.ts'
import { acquirePermit, CALLS_NO_MODEL } from '../pipeline/acquire-call-permit.ts'
import { authenticate, type Caller } from '../pipeline/authenticate.ts'
import { currentCaller } from '../pipeline/current-caller.ts'
import { type Exchange, sendError, sendJson } from '../pipeline/http-exchange.ts'
import { callerInOfferingGroup } from '../pipeline/plan-call.ts'
import { readBody } from '../pipeline/read-body.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { rejectUnreadRequest } from '../pipeline/send-error-before-body-is-read.ts'
import { bodyShareOf } from '../pipeline/user-share-of-body-memory.ts'
import { SECRET_PREFIX } from './authenticate-session.ts'
import { checkMembers } from './check-member-names.ts'
import { planRealtime } from './plan-and-connect-session.ts'
import { readSession, type SessionSettings } from './session-settings.ts'

/** The endpoints that create temporary keys. `sessions` belongs to the beta protocol. */
type SecretEndpoint = 'client_secrets' | 'sessions'

/**
 * The validity of temporary keys in seconds, as OpenAI documents it: the bounds of a requested
 * validity, and the default by endpoint.
 */
const VALIDITY_S = { least: 10, most: 7_200, client_secrets: 600, sessions: 60 }
/**
 * The maximum length in bytes of a request for a temporary key. The maximum is small, because the
 * settings in the request are stored until the temporary key expires.
 */
const SETTINGS_BYTES_MAX = 64 * 1024
const NAMES = namesByFoldedName(['session', 'expires_after', 'client_secret', 'model'])
const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

type SecretRequest = {
  readonly settings: SessionSettings
  readonly model: string
  readonly validityS: number
}

/**
 * Serves the HTTP endpoints that create temporary keys. All other HTTP requests below
 * `/v1/realtime` get an error, and so does a request to `/v1/realtime` itself without a websocket
 * upgrade.
 */
export async function serveRealtimeEndpoint(
  deps: RelayDeps,
  exchange: Exchange,
  endpoint: string,
): Promise<void> {
  if (endpoint === '') {
    return sendError(exchange, relayError('websocket_required'))
  }
  if (endpoint === 'calls' || endpoint.startsWith('calls/')) {
    return sendError(exchange, relayError('webrtc_not_supported'))
  }
  if (endpoint === 'transcription_sessions') {
    return sendError(exchange, relayError('transcription_sessions_not_supported'))
  }
  const isKnown = endpoint === 'client_secrets' || endpoint === 'sessions'
  if (!isKnown) return sendError(exchange, relayError('not_found'))
  if (exchange.request.method === 'POST') return createClientSecret(deps, exchange, endpoint)
  sendError(exchange, relayError('method_not_allowed', { subject: 'POST' }))
}

/**
 * Creates a temporary key of the gateway, with which a browser can open sessions, and sends it to
 * the caller.
 */
async function createClientSecret(
  deps: RelayDeps,
  exchange: Exchange,
  endpoint: SecretEndpoint,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const authenticated = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(authenticated)) return sendError(exchange, authenticated)
  const owner = await bodyShareOf(deps, authenticated.user.userId, request)
  const body = await readBody(request, deps.bodyMemory, owner)
  if (isRelayError(body)) return rejectUnreadRequest(exchange, body)
  try {
    const caller = await currentCaller(deps, authenticated, exchange)
    if (isRelayError(caller)) return sendError(exchange, caller)
    const secretRequest = readSecretRequest(body, endpoint)
    if (isRelayError(secretRequest)) return sendError(exchange, secretRequest)
    const inGroup = callerInOfferingGroup(deps.views, caller, secretRequest.model, 'realtime')
    const plan = planRealtime(deps.views, inGroup, secretRequest.model, deps.now())
    if (isRelayError(plan)) return sendError(exchange, plan)
    const permit = await acquirePermit(deps, caller, CALLS_NO_MODEL)
    if (isRelayError(permit)) return sendError(exchange, permit)
    try {
      const response = await store(deps, caller, secretRequest, endpoint)
      if (isRelayError(response)) sendError(exchange, response)
      else sendJson(exchange, 200, response, ['Cache-Control', 'no-store'])
    } finally {
      permit.release({ isSuccess: true, tokens: 0 })
    }
  } finally {
    deps.bodyMemory.giveBack(body.length)
    deps.bodyMemory.release(owner, body.length)
  }
}

function readSecretRequest(bytes: Buffer, endpoint: SecretEndpoint): SecretRequest | RelayError {
  const members = scanObject(bytes, NAMES)
  if (!isMembers(members)) return jsonError(bytes, members)
  if (bytes.length > SETTINGS_BYTES_MAX) {
    return relayError('string_above_max_length', {
      ...{ param: 'session', subject: `${SETTINGS_BYTES_MAX}` },
    })
  }
  const body = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>
  if (endpoint === 'client_secrets') {
    const error = checkMembers(body, ['session', 'expires_after'], '')
    if (error !== null) return error
    return requestOf(body.session, body.expires_after, endpoint, 'session')
  }
  const { client_secret: secret = {}, ...session } = body
  const expiry = isObject(secret) ? secret.expires_after : secret
  return requestOf(session, expiry, endpoint, '')
}

function requestOf(
  session: unknown,
  expiry: unknown,
  endpoint: SecretEndpoint,
  param: string,
): SecretRequest | RelayError {
  const path = param === '' ? '' : `${param}.`
  const { model, type = 'realtime' } = objectOrEmpty(session)
  // Sessions that only transcribe have no model, so they can't be priced.
  if (type === 'transcription') {
    return relayError('transcription_sessions_not_supported', { param: `${path}type` })
  }
  if (type !== 'realtime') return notOneOf(`${path}type`, ['realtime'])
  if (model === undefined) return relayError('missing_parameter', { param: `${path}model` })
  if (typeof model !== 'string' || model === '') {
    return relayError('invalid_parameter', { param: `${path}model` })
  }
  const settings = readSession(session, model, param)
  if (isRelayError(settings)) return settings
  const seconds = isObject(expiry) ? (expiry.seconds ?? undefined) : (expiry ?? undefined)
  const validityS = seconds === undefined ? VALIDITY_S[endpoint] : numericOf(seconds)
  const isValid = validityS >= VALIDITY_S.least && validityS <= VALIDITY_S.most
  const isSeconds = seconds === undefined || Number.isInteger(seconds)
  if (!isValid || !isSeconds || (expiry !== undefined && expiry !== null && !isObject(expiry))) {
    return outOfRange('expires_after.seconds', VALIDITY_S.least, VALIDITY_S.most)
  }
  return { settings, model, validityS }
}

async function store(
  { vault, now, clientSecrets, log }: RelayDeps,
  { token, user, pinnedChannelId }: Caller,
  { settings: { session }, model, validityS }: SecretRequest,
  endpoint: SecretEndpoint,
): Promise<object | RelayError> {
  const value = `${SECRET_PREFIX}${randomBytes(24).toString('hex')}`
  const at = now()
  const expiresAt = at + validityS * 1_000
  const isBeta = endpoint === 'sessions'
  try {
    const settings = await vault.seal(user.userId, JSON.stringify(session))
    const secretHash = vault.keyedHash('realtime-secret', value)
    const of = { userId: user.userId, keyLookup: token.keyLookup, pinnedChannelId }
    const secret = { secretHash, ...of, model, isBeta, settings, expiresAt }
    if (!(await clientSecrets.add(secret, at))) {
      return relayError('too_many_concurrent', { subject: 'temporary keys (this token)' })
    }
  } catch (err) {
    log.error({ err }, 'a temporary key could not be stored')
    return NO_STORE
  }
  const expires_at = Math.floor(expiresAt / 1_000)
  const id = `sess_${randomBytes(12).toString('hex')}`
  const description = { type: 'realtime', ...session, id, object: 'realtime.session', model }
  return isBeta
    ? { ...description, client_secret: { value, expires_at } }
    : { value, expires_at, session: description }
}
