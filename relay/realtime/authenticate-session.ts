import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { isModelName } from '../dialects/read-common-request-members.ts'
import { authenticate, type Caller, callerOf, keyInRequest } from '../pipeline/authenticate.ts'
import { type Exchange, queryIn } from '../pipeline/http-exchange.ts'
import type { CallRequest } from '../pipeline/http-request-and-response-types.ts'
import { callerInOfferingGroup } from '../pipeline/plan-call.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { readSession, type SessionSettings } from './session-settings.ts'

/**
 * The websocket sub-protocol that a browser names to open a session. Browsers can't set headers, so
 * they send the key (after the prefix `KEY_PROTOCOL`) and the beta version (`BETA_PROTOCOL`) as
 * additional sub-protocols.
 */
export const REALTIME_PROTOCOL = 'realtime'
const KEY_PROTOCOL = 'openai-insecure-api-key.'
const BETA_PROTOCOL = 'openai-beta.realtime-v1'

export type SessionRequest = {
  readonly caller: Caller
  readonly model: string
  /** True for the beta protocol, which was in use before the API's general availability. */
  readonly isBeta: boolean
  /** The settings with which the session begins; null if it begins with the provider's defaults. */
  readonly settings: SessionSettings | null
}

/** The first characters of all temporary keys. */
export const SECRET_PREFIX = 'ek_'

type AuthDeps = Pick<RelayDeps, 'views' | 'vault' | 'failedKeys' | 'clientSecrets' | 'now' | 'log'>

/**
 * Authenticates a request for a session, and reads the model and the protocol version. Returns the
 * error for the caller if the request is refused.
 */
export async function authenticateSession(
  deps: AuthDeps,
  { request, clientIp, startedAt }: Exchange,
): Promise<SessionRequest | RelayError> {
  const protocols = protocolsOf(request)
  const headers = headersWithKey(request, protocols)
  const isBeta =
    protocols.includes(BETA_PROTOCOL) || /\brealtime=v1\b/.test(String(headers['openai-beta']))
  const url = request.url ?? ''
  const bySecret = await authenticateBySecret(deps, keyInRequest({ headers, url }), clientIp)
  const caller =
    bySecret?.caller ?? (await authenticate(deps, { headers, url }, clientIp, startedAt))
  if (isRelayError(caller)) return caller
  const model = modelIn(url, bySecret?.model)
  if (isRelayError(model)) return model
  const inGroup = callerInOfferingGroup(deps.views, caller, model.name, 'realtime')
  if (bySecret === null) return { caller: inGroup, model: model.name, isBeta, settings: null }
  return { ...bySecret, caller: inGroup }
}

type BySecret = Omit<SessionRequest, 'caller'> & { readonly caller: Caller | RelayError }

/**
 * Authenticates a request with a temporary key. Returns null for any other key, and for a temporary
 * key that is unknown or no longer valid. The key is then checked like any other key, so an unknown
 * temporary key counts as a wrong key from the caller's IP address.
 */
async function authenticateBySecret(
  { views, vault, clientSecrets, failedKeys, now, log }: AuthDeps,
  text: string | null,
  clientIp: string,
): Promise<BySecret | null> {
  if (text?.startsWith(SECRET_PREFIX) !== true || failedKeys.waitSeconds(clientIp) > 0) return null
  const at = now()
  try {
    const secret = await clientSecrets.find(vault.keyedHash('realtime-secret', text), at)
    if (secret === null) return null
    const { userId, keyLookup, pinnedChannelId, model, isBeta } = secret
    const settingsJson = await vault.open(userId, secret.settings)
    const caller = await callerOf({ views, vault }, keyLookup, pinnedChannelId, clientIp, at)
    const settings = readSession(JSON.parse(settingsJson ?? 'null'), model, 'session')
    if (caller === null || isRelayError(settings)) return null
    return { caller, model, isBeta, settings }
  } catch (err) {
    log.error({ err }, 'a temporary key could not be read')
    const caller = relayError('store_unavailable', { retryAfter: 5 })
    return { caller, model: '', isBeta: false, settings: null }
  }
}

const protocolsOf = ({ headers }: CallRequest): readonly string[] =>
  String(headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())

/**
 * Returns the headers of a request. If a browser sent its key as a sub-protocol, the key is added
 * as the header `authorization`, unless the request already has this header.
 */
function headersWithKey({ headers }: CallRequest, protocols: readonly string[]) {
  const protocolWithKey = protocols.find((each) => each.startsWith(KEY_PROTOCOL))
  if (protocolWithKey === undefined || headers.authorization !== undefined) return headers
  return { ...headers, authorization: `Bearer ${protocolWithKey.slice(KEY_PROTOCOL.length)}` }
}

/**
 * Returns the caller's name for the model: the name in the URL, or by default the model of the
 * temporary key (`ofSecret`). Returns an error if there is no name, or if the URL names another
 * model than the temporary key. Sessions that only transcribe (`intent`) and sessions over WebRTC
 * (`call_id`) are refused.
 */
function modelIn(url: string, ofSecret?: string): { readonly name: string } | RelayError {
  const query = queryIn(url)
  if (query.get('intent') === 'transcription') {
    return relayError('transcription_sessions_not_supported', { param: 'intent' })
  }
  for (const param of ['intent', 'call_id']) {
    if (query.has(param)) return relayError('parameter_not_supported', { param })
  }
  const names = query.getAll('model')
  const [name = ofSecret] = names
  if (name === undefined || name === '') return relayError('missing_parameter', { param: 'model' })
  const isOfSecret = ofSecret === undefined || ofSecret === name
  const isValid = names.length <= 1 && isModelName(name) && isOfSecret
  return isValid ? { name } : relayError('invalid_parameter', { param: 'model' })
}
