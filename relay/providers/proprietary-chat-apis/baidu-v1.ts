import type { StopReason } from '#relay/canonical/canonical-answer.ts'
import type { CanonicalRequest } from '#relay/canonical/canonical-request.ts'
import {
  type JsonObject,
  numericOf,
  objectOrEmpty,
  parsedObject,
  textOf,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { readAnswerId } from '#relay/conversion/limit-ids-model-names-and-token-counts.ts'
import {
  type AccessToken,
  AccessTokenCache,
  postTokenRequest,
  readAccessToken,
} from '../clouds/access-token-cache.ts'
import { isVisibleText } from '../header-list.ts'
import {
  CredentialsError,
  MODEL_PLACEHOLDER,
  type OpenCloud,
} from '../provider-access-and-decoder-types.ts'
import {
  endEvents,
  errorEvents,
  reportedUsage,
  singleAnswer,
  textEvents,
  usageEvents,
} from './build-answer-events.ts'
import type { ProviderError, ProviderEventReader, Translation } from './chat-translation.ts'
import {
  callEvents,
  calledIn,
  callPart,
  functionMembers,
  usesTools,
  writeTurns,
} from './function-calls.ts'
import {
  type Feature,
  lastQuestion,
  lossesOf,
  textConversation,
} from './text-conversation-and-losses.ts'

const FEATURES = new Set<Feature>([
  ...(['tools', 'outputTokensMax', 'temperature', 'topP', 'stop', 'endUser'] as const),
])
/** The smallest output limit in tokens that Baidu accepts. */
const OUTPUT_TOKENS_MIN = 2
const STOPS_MAX = 4

function writeRequest(request: CanonicalRequest, { isStream }: { readonly isStream: boolean }) {
  const losses = lossesOf(request, FEATURES)
  const { system, messages } = conversationOf(request, losses)
  const { temperature, topP, stop } = request.sampling
  if (stop.length > STOPS_MAX) losses.push('sampling.stop')
  const { outputTokensMax, endUser } = request
  const members = {
    messages,
    ...functionMembers(request, losses),
    system: system === '' ? null : system,
    stream: isStream,
    temperature,
    top_p: topP,
    stop: stop.length === 0 ? null : stop.slice(0, STOPS_MAX),
    max_output_tokens:
      outputTokensMax === null ? null : Math.max(outputTokensMax, OUTPUT_TOKENS_MIN),
    user_id: endUser,
    // A web search would add input that the caller did not request.
    disable_search: true,
  }
  const present = Object.entries(members).filter(([, value]) => value !== null)
  return { value: Object.fromEntries(present), losses }
}

function conversationOf(request: CanonicalRequest, losses: string[]) {
  if (usesTools(request)) {
    const { system } = textConversation({ ...request, messages: [] }, losses)
    return { system, messages: writeTurns(request.messages, losses) }
  }
  const conversation = textConversation(request, losses)
  lastQuestion(conversation)
  const messages = conversation.messages.map(({ role, text }) => ({ role, content: text }))
  return { system: conversation.system, messages }
}

function usageIn(body: JsonObject) {
  const usage = objectOrEmpty(body.usage)
  return reportedUsage(usage.prompt_tokens, usage.completion_tokens)
}

function stopIn({ finish_reason: reason, is_truncated: isTruncated }: JsonObject): StopReason {
  if (reason === 'length' || isTruncated === true) return 'length'
  return reason === 'content_filter' ? 'refusal' : 'end'
}

function readAnswer(body: JsonObject) {
  const text = textOf(body.result)
  if (text === null) return null
  const id = readAnswerId(body.id)
  const call = calledIn(body)
  if (call === null) {
    return singleAnswer(id, [{ kind: 'text', text }], usageIn(body), stopIn(body))
  }
  const texts = text === '' ? [] : [{ kind: 'text', text } as const]
  return singleAnswer(id, [...texts, callPart(call)], usageIn(body), 'tool-calls')
}

/**
 * Baidu's error codes for a key without permission (6), and for an invalid key or access token (all
 * others).
 */
const INVALID_KEY = new Set([6, 13, 14, 15, 100, 110, 111])
const NO_BALANCE = new Set([17, 19, 336_117])
const BUSY = new Set([4, 18, 336_100, 336_501, 336_502])
/** The codes for a wrong request and, at the end, for a prompt that is too long. */
const WRONG_REQUEST = new Set([336_001, 336_002, 336_003, 336_006, 336_007, 336_103])

/** The statuses for a key without the permission for a model, and for an unknown model. */
const OTHER_STATUSES: Readonly<Record<number, number>> = { 336004: 403, 336005: 404 }

/** Reads an error. Baidu's errors usually have the HTTP status 200. */
function readError(body: JsonObject, status: number): ProviderError | null {
  const message = textOf(body.error_msg) ?? textOrEmpty(body.error_description)
  const code = numericOf(body.error_code)
  if (Number.isNaN(code)) {
    return status >= 400 ? { status, type: 'baidu_error', message } : null
  }
  if (INVALID_KEY.has(code)) return { status: 401, type: 'invalid_api_key', message }
  if (NO_BALANCE.has(code)) return { status: 429, type: 'insufficient_quota', message }
  const own = BUSY.has(code) ? 429 : WRONG_REQUEST.has(code) ? 400 : (OTHER_STATUSES[code] ?? 502)
  return { status: status >= 400 ? status : own, type: `${code}`, message }
}

function createEventReader(): ProviderEventReader {
  let isCalled = false
  return ({ data }) => {
    const event = parsedObject(data)
    if (event === null) return []
    const error = readError(event, 200)
    if (error !== null) return errorEvents(error)
    const start = { kind: 'start', id: readAnswerId(event.id), model: '' } as const
    // A function call is never split over several events.
    const call = isCalled ? null : calledIn(event)
    isCalled ||= call !== null
    const called = call === null ? [] : callEvents(call)
    const events = [start, ...textEvents(textOrEmpty(event.result)), ...called]
    if (event.is_end !== true) return events
    const stop = isCalled ? 'tool-calls' : stopIn(event)
    return [...events, ...usageEvents(usageIn(event)), ...endEvents(stop)]
  }
}

/** The first version of Baidu's API, in which each model has its own path. */
export const BAIDU_V1: Translation = { writeRequest, readAnswer, readError, createEventReader }

/** The models whose path is not their name in lower case, each with its path. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ['ernie-4.0-8k', 'completions_pro'],
  ['ernie-bot-4', 'completions_pro'],
  ['ernie-3.5-8k', 'completions'],
  ['ernie-bot', 'completions'],
  ['ernie-bot-8k', 'ernie_bot_8k'],
  ['ernie-speed-8k', 'ernie_speed'],
  ['ernie-bot-turbo', 'eb-instant'],
  ['ernie-lite-8k-0922', 'eb-instant'],
])

const pathOf = (model: string): string => {
  const name = model.toLowerCase()
  return PATHS.get(name) ?? name
}

const DEFAULT_BASE_URL = 'https://aip.baidubce.com'

async function requestToken(
  connections: Parameters<typeof postTokenRequest>[0],
  base: string,
  [id, secret]: readonly [string, string],
): Promise<AccessToken> {
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
  const { status, body } = await postTokenRequest(connections, `${base}/oauth/2.0/token`, form)
  const answer = status === 200 ? readAccessToken(body) : null
  if (answer !== null) return answer
  const { error_description: text } = parsedObject(body.toString('utf8')) ?? {}
  const isRefused = status === 200 || (status >= 400 && status < 500 && status !== 429)
  const error = { error: { code: 'invalid_api_key', message: textOrEmpty(text) } }
  throw new CredentialsError(isRefused ? 401 : null, Buffer.from(JSON.stringify(error)))
}

/**
 * Returns the address below which the paths of Baidu's API begin. The path of a proxy is kept, but
 * not the version at its end, because the path for tokens contains none.
 */
function rootOf(baseUrl: string): string {
  const url = URL.parse(baseUrl)
  return url === null ? '' : `${url.origin}${url.pathname.replace(/(?:\/v\d+)?\/*$/, '')}`
}

/**
 * Reads a key of the form `API key|secret key`. An access token, which is requested with the key,
 * is added to the path of each call.
 */
export const openBaiduV1: OpenCloud = ({ key, baseUrl }) => {
  const [id = '', secret = '', ...rest] = key.split('|').map((part) => part.trim())
  if (rest.length > 0 || !isVisibleText(id) || !isVisibleText(secret)) return null
  const base = baseUrl === '' ? DEFAULT_BASE_URL : rootOf(baseUrl)
  const tokens = new AccessTokenCache((via) => requestToken(via, base, [id, secret]))
  return {
    baseUrlFor: () => DEFAULT_BASE_URL,
    fillPath: (path, model) =>
      path.replace(MODEL_PLACEHOLDER, () => encodeURIComponent(pathOf(model))),
    authorize: async (call, connections) => {
      const token = await tokens.token(connections)
      const mark = call.path.includes('?') ? '&' : '?'
      return { ...call, path: `${call.path}${mark}access_token=${encodeURIComponent(token)}` }
    },
    dropCredentials: () => tokens.drop(),
    confidential: () => [id, secret, tokens.current],
    decoder: null,
  }
}
