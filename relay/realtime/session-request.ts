import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { isModelName } from '../dialects/read-request-members.ts'
import { authenticate, type Caller } from '../pipeline/authenticate.ts'
import type { Exchange } from '../pipeline/http-exchange.ts'
import type { CallRequest } from '../pipeline/http-messages.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import type { SessionSettings } from './session-settings.ts'

/** The sub-protocols of browsers, which can't set headers. */
export const PROTOCOL = 'realtime'
const KEY_PROTOCOL = 'openai-insecure-api-key.'
const BETA_PROTOCOL = 'openai-beta.realtime-v1'

export type SessionRequest = {
  readonly caller: Caller
  readonly model: string
  /** True for the protocol before its general availability. */
  readonly isBeta: boolean
  /** The settings with which the session begins; null for those of the provider. */
  readonly settings: SessionSettings | null
}

/** Authenticates a request for a session, and reads the model and the protocol. */
export async function authenticateSession(
  deps: Pick<RelayDeps, 'views' | 'vault' | 'failedKeys'>,
  { request, clientIp, startedAt }: Exchange,
): Promise<SessionRequest | RelayError> {
  const protocols = protocolsOf(request)
  const headers = headersWithKey(request, protocols)
  const isBeta =
    protocols.includes(BETA_PROTOCOL) || /\brealtime=v1\b/.test(String(headers['openai-beta']))
  const caller = await authenticate(deps, { headers, url: request.url ?? '' }, clientIp, startedAt)
  if (isRelayError(caller)) return caller
  const model = modelIn(request.url ?? '')
  return isRelayError(model) ? model : { caller, model: model.name, isBeta, settings: null }
}

const protocolsOf = ({ headers }: CallRequest): readonly string[] =>
  String(headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())

/** Returns the headers with the key that a browser sends as a sub-protocol. */
function headersWithKey({ headers }: CallRequest, protocols: readonly string[]) {
  const offered = protocols.find((each) => each.startsWith(KEY_PROTOCOL))
  if (offered === undefined || headers.authorization !== undefined) return headers
  return { ...headers, authorization: `Bearer ${offered.slice(KEY_PROTOCOL.length)}` }
}

/** Sessions for transcription only, and those of WebRTC, have no model and are not served. */
function modelIn(url: string): { readonly name: string } | RelayError {
  const query = new URLSearchParams(url.split('?')[1] ?? '')
  for (const param of ['intent', 'call_id']) {
    if (query.has(param)) return relayError('parameter_not_supported', { param })
  }
  const names = query.getAll('model')
  const [name] = names
  if (name === undefined || name === '') return relayError('missing_parameter', { param: 'model' })
  const isValid = names.length === 1 && isModelName(name)
  return isValid ? { name } : relayError('invalid_parameter', { param: 'model' })
}
