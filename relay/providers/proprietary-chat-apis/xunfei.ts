import { createHmac } from 'node:crypto'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { CanonicalRequest } from '#relay/canonical/canonical-request.ts'
import {
  type JsonObject,
  numericOf,
  objectOrEmpty,
  objectsOf,
  parsedObject,
  textOf,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { readAnswerId } from '#relay/conversion/limit-ids-model-names-and-token-counts.ts'
import { isVisibleText } from '../header-list.ts'
import {
  MODEL_PLACEHOLDER,
  type OpenCloud,
  type ProviderCall,
} from '../provider-access-and-decoder-types.ts'
import {
  endEvents,
  errorEvents,
  reportedUsage,
  textEvents,
  thinkingEvents,
  usageEvents,
} from './build-answer-events.ts'
import type {
  ProviderError,
  ProviderEventReader,
  Translation,
  TranslationTarget,
} from './chat-translation.ts'
import { callEvents, calledIn, offeredFunctions, withCallsAsTexts } from './function-calls.ts'
import {
  type Feature,
  lastQuestion,
  lossesOf,
  textConversation,
} from './text-conversation-and-losses.ts'
import { websocketTransport } from './websocket-transport.ts'

/** The path and the domain (Xunfei's parameter for the model) of each version of Spark. */
const VERSIONS: ReadonlyMap<string, readonly [path: string, domain: string]> = new Map([
  ['v1.1', ['/v1.1/chat', 'lite']],
  ['v2.1', ['/v2.1/chat', 'generalv2']],
  ['v3.1', ['/v3.1/chat', 'generalv3']],
  ['v3.5', ['/v3.5/chat', 'generalv3.5']],
  ['v4.0', ['/v4.0/chat', '4.0Ultra']],
  ['pro-128k', ['/chat/pro-128k', 'pro-128k']],
  ['max-32k', ['/chat/max-32k', 'max-32k']],
])
const DEFAULT_VERSION = 'v2.1'
/** The versions of Spark, by Xunfei's names for the models. */
const MODELS: ReadonlyMap<string, string> = new Map([
  ['lite', 'v1.1'],
  ['pro', 'v3.1'],
  ['max', 'v3.5'],
  ['4.0-ultra', 'v4.0'],
])

/**
 * Returns the path and the domain for a model. The version is taken from the model's name, such as
 * `SparkDesk-v3.5`. If the name contains none, the version in the channel's field `other` is used.
 * The default is v2.1.
 */
export function sparkVersion(
  model: string,
  other: string,
): readonly [path: string, domain: string] {
  const name = model.toLowerCase().replace(/^spark(?:desk)?-?/, '')
  const ofModel = VERSIONS.get(MODELS.get(name) ?? name)
  const version = ofModel ?? VERSIONS.get(other) ?? VERSIONS.get(DEFAULT_VERSION)
  return version ?? ['/v2.1/chat', 'generalv2']
}

const FEATURES = new Set<Feature>(['outputTokensMax', 'temperature', 'topK'])
const FEATURES_WITH_TOOLS = new Set<Feature>([...FEATURES, 'tools'])
/** The domains of Spark Max and Spark 4.0 Ultra. Only these models support functions. */
const DOMAINS_WITH_TOOLS: ReadonlySet<string> = new Set(['generalv3.5', '4.0Ultra'])
const TOP_K_MAX = 6
/** The start of every request, after which the app id is inserted. */
const APP_ID = '{"header":{"app_id":"'

/**
 * Writes the message that is sent over the websocket. The app id is part of the key and is inserted
 * later.
 */
function writeRequest(request: CanonicalRequest, { model, other }: TranslationTarget) {
  const [, domain] = sparkVersion(model, other)
  const hasTools = DOMAINS_WITH_TOOLS.has(domain)
  const losses = lossesOf(request, hasTools ? FEATURES_WITH_TOOLS : FEATURES)
  const asTexts = { ...request, messages: withCallsAsTexts(request.messages, losses) }
  const conversation = textConversation(asTexts, losses)
  lastQuestion(conversation)
  const { system, messages } = conversation
  const { temperature, topK } = request.sampling
  const functions = offeredFunctions(request, losses)
  const chat = {
    domain,
    temperature: temperature === null ? null : Math.min(Math.max(temperature, 0.01), 1),
    top_k: topK === null ? null : Math.min(Math.max(topK, 1), TOP_K_MAX),
    max_tokens: request.outputTokensMax,
  }
  const present = Object.entries(chat).filter(([, member]) => member !== null)
  const instructions = system === '' ? [] : [{ role: 'system', content: system }]
  const texts = messages.map(({ role, text }) => ({ role, content: text }))
  const value = {
    header: { app_id: '' },
    parameter: { chat: Object.fromEntries(present) },
    payload: {
      message: { text: [...instructions, ...texts] },
      ...(functions.length === 0 ? {} : { functions: { text: functions } }),
    },
  }
  return { value, losses }
}

/**
 * Spark's error codes by their cause (www.xfyun.cn/doc/spark/Web.html). The codes from 10013 to
 * 10021 except 10015 and 10016 mean a sensitive input or output, and 10907 a prompt that is too
 * long.
 */
const INVALID_KEY = new Set([11_200, 10_313, 10_015])
const BUSY = new Set([10_006, 10_007, 10_008, 10_010, 10_110, 11_201, 11_202, 11_203])
const WRONG_REQUEST = new Set([
  ...[10_003, 10_004, 10_005, 10_163, 10_907],
  ...[10_013, 10_014, 10_019, 10_021],
])

/**
 * Reads an error. The response that refuses a websocket has only a text. A message on an open
 * websocket also has a code.
 */
function readError(body: JsonObject, status: number): ProviderError | null {
  const header = objectOrEmpty(body.header)
  const code = numericOf(header.code ?? 0)
  const message = textOf(header.message) ?? textOrEmpty(body.message)
  if (status === 401 || INVALID_KEY.has(code)) {
    return { status: 401, type: 'invalid_api_key', message }
  }
  if (status < 400 && code === 0) return null
  const own = BUSY.has(code) ? 429 : WRONG_REQUEST.has(code) ? 400 : 502
  return { status: status >= 400 ? status : own, type: `${code || 'xunfei_error'}`, message }
}

const LAST = 2
/**
 * Recognizes the last message and errors. Text inside a JSON string can't match these patterns,
 * because its quotes are escaped.
 */
const MESSAGES = { last: /"status"\s*:\s*2\b/, error: /"code"\s*:\s*[1-9]/ }

function createEventReader(): ProviderEventReader {
  let isCalled = false
  return ({ data }) => {
    const event = parsedObject(data)
    if (event === null) return []
    const error = readError(event, 200)
    if (error !== null) return errorEvents(error)
    const header = objectOrEmpty(event.header)
    const payload = objectOrEmpty(event.payload)
    const choices = objectOrEmpty(payload.choices)
    const usage = objectOrEmpty(objectOrEmpty(payload.usage).text)
    const pieces = objectsOf(choices.text).flatMap((piece) => {
      // A function call is never split over several messages, and an answer has at most one.
      const call = isCalled ? null : calledIn({ ...piece, id: header.sid })
      isCalled ||= call !== null
      return [
        ...thinkingEvents(textOrEmpty(piece.reasoning_content)),
        ...textEvents(textOrEmpty(piece.content)),
        ...(call === null ? [] : callEvents(call)),
      ]
    })
    const start: CanonicalEvent = { kind: 'start', id: readAnswerId(header.sid), model: '' }
    const counts = usageEvents(reportedUsage(usage.prompt_tokens, usage.completion_tokens))
    const isLast = header.status === LAST || choices.status === LAST
    const end = isLast ? endEvents(isCalled ? 'tool-calls' : 'end') : []
    return [start, ...pieces, ...counts, ...end]
  }
}

/** Xunfei Spark, which answers over a websocket. */
export const XUNFEI: Translation = {
  writeRequest,
  // All answers arrive as messages on a websocket, which are read as events.
  readAnswer: () => null,
  readError,
  createEventReader,
}

/** Returns the query with the signature for opening a websocket. `date` is an HTTP date. */
function sparkQuery(
  [secret, apiKey]: readonly [string, string],
  { host, path }: { readonly host: string; readonly path: string },
  date: string,
): string {
  const signed = `host: ${host}\ndate: ${date}\nGET ${path} HTTP/1.1`
  const signature = createHmac('sha256', secret).update(signed).digest('base64')
  const fields = {
    api_key: apiKey,
    algorithm: 'hmac-sha256',
    headers: 'host date request-line',
    signature,
  }
  const text = Object.entries(fields).map(([name, value]) => `${name}="${value}"`)
  const authorization = Buffer.from(text.join(', ')).toString('base64')
  return new URLSearchParams({ authorization, date, host }).toString()
}

function authorized(call: ProviderCall, [app, secret, apiKey]: readonly [string, string, string]) {
  const { host } = new URL(call.origin)
  const query = sparkQuery([secret, apiKey], { ...call, host }, new Date().toUTCString())
  const rest = call.body.subarray(APP_ID.length)
  const body = Buffer.concat([Buffer.from(`${APP_ID}${app}`), rest])
  return { ...call, path: `${call.path}?${query}`, body }
}

/** Reads a key of the form `app id|API secret|API key`. */
export const openXunfei: OpenCloud = ({ key, other }) => {
  const parts = key.split('|').map((part) => part.trim())
  const [app = '', secret = '', apiKey = ''] = parts
  const isRight = parts.length === 3 && parts.every(isVisibleText) && /^\w+$/.test(app)
  if (!isRight) return null
  return {
    baseUrlFor: () => 'https://spark-api.xf-yun.com',
    fillPath: (path, model) =>
      path.replace(`/${MODEL_PLACEHOLDER}`, () => sparkVersion(model, other)[0]),
    authorize: async (call) => authorized(call, [app, secret, apiKey]),
    dropCredentials: () => {},
    confidential: () => parts,
    decoder: null,
    transport: (connections, origin) => websocketTransport(connections, origin, MESSAGES),
  }
}
