import { createHash, createHmac } from 'node:crypto'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { CanonicalRequest } from '#relay/canonical/canonical-request.ts'
import {
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectOrEmpty,
  objectsOf,
  parsedObject,
  scalarText,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { COMPATIBLE } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { readAnswer as readChatAnswer } from '#relay/conversion/openai-chat/read-answer.ts'
import { createStreamReader } from '#relay/conversion/openai-chat/read-stream.ts'
import { writeMessages } from '#relay/conversion/openai-chat/write-messages.ts'
import { isVisibleText } from '../header-list.ts'
import {
  MODEL_PLACEHOLDER,
  type OpenCloud,
  type ProviderCall,
} from '../provider-access-and-decoder-types.ts'
import { errorEvents, reportedUsage, usageEvents } from './build-answer-events.ts'
import type { ProviderError, ProviderEventReader, Translation } from './chat-translation.ts'
import { type Feature, lossesOf } from './text-conversation-and-losses.ts'

const FEATURES = new Set<Feature>(['tools', 'images', 'temperature', 'topP', 'seed', 'stop'])

/**
 * Converts OpenAI's names to Tencent's, which have capital letters: `tool_calls` becomes
 * `ToolCalls`.
 */
const capitalName = (name: string): string =>
  name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

const openAiName = (name: string): string => name.replace(/(?!^)([A-Z])/g, '_$1').toLowerCase()

/** Renames the members of a value at any depth. */
function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((element) => renamed(element, rename))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [rename(name), renamed(member, rename)]),
  )
}

/**
 * Returns a message with Tencent's names. Content with pictures is in the member `Contents`, and a
 * text in `Content`.
 */
function messageOf({ content, reasoning_content: _, ...message }: JsonObject): JsonObject {
  const list = Array.isArray(content) ? { contents: content } : { content: content ?? '' }
  return renamed({ ...message, ...list }, capitalName) as JsonObject
}

function writeRequest(
  request: CanonicalRequest,
  { model, isStream }: { readonly model: string; readonly isStream: boolean },
) {
  const losses = lossesOf(request, FEATURES)
  const { temperature, topP, seed, stop } = request.sampling
  const members = {
    Model: model,
    Messages: writeMessages(request, COMPATIBLE, losses).map(messageOf),
    Stream: isStream,
    Temperature: temperature,
    TopP: topP,
    Seed: seed,
    Stop: stop.length === 0 ? null : stop,
    ...toolMembers(request, losses),
    // A web search would add input and costs that the caller did not request.
    EnableEnhancement: false,
  }
  const present = Object.entries(members).filter(([, value]) => value !== null)
  return { value: Object.fromEntries(present), losses }
}

function toolMembers({ tools, toolChoice }: CanonicalRequest, losses: string[]): JsonObject {
  if (tools.length === 0) return {}
  const written = tools.map(({ name, description, schema }) => ({
    Type: 'function',
    Function: { Name: name, Description: description, Parameters: JSON.stringify(schema) },
  }))
  if (toolChoice?.kind === 'required') losses.push('toolChoice')
  if (toolChoice?.kind !== 'tool') {
    return { Tools: written, ToolChoice: toolChoice?.kind === 'none' ? 'none' : 'auto' }
  }
  const custom = written.find((tool) => tool.Function.Name === toolChoice.name)
  return { Tools: written, ToolChoice: 'custom', CustomTool: custom ?? null }
}

/** Returns an answer or a chunk with OpenAI's names, but without the usage. */
const withOpenAiNames = (body: JsonObject): JsonObject => {
  const { Usage: _, ...rest } = body
  return renamed(rest, openAiName) as JsonObject
}

function usageIn(body: JsonObject) {
  const usage = objectOrEmpty(body.Usage)
  return reportedUsage(usage.PromptTokens, usage.CompletionTokens)
}

function readAnswer(body: JsonObject) {
  const response = objectOrEmpty(body.Response)
  if (listOf(response.Choices).length === 0) return null
  const answer = readChatAnswer(withOpenAiNames(response))
  return { ...answer, usage: usageIn(response) }
}

/**
 * Reads an error. Tencent's errors usually have the HTTP status 200. A code may have several parts,
 * such as `AuthFailure.SignatureFailure`.
 */
function readError(body: JsonObject, status: number): ProviderError | null {
  const response = objectOrEmpty(body.Response)
  const error = objectOf(response.Error)
  if (error !== null) return errorOf(textOrEmpty(error.Code), textOrEmpty(error.Message), status)
  const late = objectOf(body.ErrorMsg) ?? objectOf(response.ErrorMsg)
  if (late === null || !late.Msg) return status >= 400 ? errorOf('', '', status) : null
  return errorOf(scalarText(late.Code), textOrEmpty(late.Msg), status)
}

/** The prefixes of the error codes that concern the account, such as an unpaid bill. */
const ACCOUNT_ERRORS = [
  ...['ResourceInsufficient', 'ResourceUnavailable.InArrears', 'ResourceUnavailable.LowBalance'],
  ...['FailedOperation.ResourcePack', 'FailedOperation.FreeResourcePack'],
  ...['FailedOperation.ServiceStop', 'FailedOperation.ServiceNotActivated'],
  ...['FailedOperation.UserUnAuth', 'UnsupportedOperation.NonWhitelistAccount'],
]

/** The prefixes of the error codes that concern the request or its contents. */
const REQUEST_ERRORS = [
  ...['InvalidParameter', 'MissingParameter', 'UnknownParameter', 'InvalidRequest'],
  ...['RequestSizeLimitExceeded', 'OperationDenied.TextIllegal', 'OperationDenied.ImageIllegal'],
]

function errorOf(code: string, message: string, status: number): ProviderError {
  const is = (...starts: readonly string[]) => starts.some((start) => code.startsWith(start))
  if (is('AuthFailure', 'UnauthorizedOperation')) {
    return { status: 401, type: 'invalid_api_key', message }
  }
  if (is(...ACCOUNT_ERRORS)) return { status: 429, type: 'insufficient_quota', message }
  const busy = is('RequestLimitExceeded', 'LimitExceeded', 'FailedOperation.EngineServerLimit')
    ? 429
    : null
  const wrong = is(...REQUEST_ERRORS) ? 400 : null
  const own = busy ?? wrong ?? 502
  return { status: status >= 400 ? status : own, type: code || 'tencent_error', message }
}

function createEventReader(): ProviderEventReader {
  const reader = createStreamReader()
  return ({ data }) => {
    const chunk = parsedObject(data)
    if (chunk === null) return []
    const error = readError(chunk, 200)
    if (error !== null) return errorEvents(error)
    const events: CanonicalEvent[] = [
      ...reader.read(withOpenAiNames(chunk), ''),
      ...usageEvents(usageIn(chunk)),
    ]
    const isLast = objectsOf(chunk.Choices).some(({ FinishReason: reason }) => Boolean(reason))
    return isLast ? [...events, ...reader.finish()] : events
  }
}

/** The API `ChatCompletions` of Tencent Hunyuan. */
export const TENCENT: Translation = { writeRequest, readAnswer, readError, createEventReader }

const SERVICE = 'hunyuan'
const HOST = 'hunyuan.tencentcloudapi.com'
const ALGORITHM = 'TC3-HMAC-SHA256'
const SIGNED_HEADERS = 'content-type;host'

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

/**
 * Returns the header `Authorization` of a request, with Tencent's signature of version 3. `seconds`
 * is the time of the signature in Unix seconds.
 */
export function tencentSignature(
  [id, secret]: readonly [string, string],
  { host, path, body }: { readonly host: string; readonly path: string; readonly body: Buffer },
  seconds: number,
): string {
  const date = new Date(seconds * 1_000).toISOString().slice(0, 10)
  const headers = `content-type:application/json\nhost:${host}\n`
  const canonical = ['POST', path, '', headers, SIGNED_HEADERS, sha256(body)].join('\n')
  const scope = `${date}/${SERVICE}/tc3_request`
  const toSign = [ALGORITHM, `${seconds}`, scope, sha256(canonical)].join('\n')
  const key = hmac(hmac(hmac(`TC3${secret}`, date), SERVICE), 'tc3_request')
  const signature = hmac(key, toSign).toString('hex')
  const credential = `Credential=${id}/${scope}`
  return `${ALGORITHM} ${credential}, SignedHeaders=${SIGNED_HEADERS}, Signature=${signature}`
}

function signed(call: ProviderCall, key: readonly [string, string]): ProviderCall {
  const seconds = Math.floor(Date.now() / 1_000)
  const { host } = new URL(call.origin)
  const headers = [
    ...['authorization', tencentSignature(key, { ...call, host }, seconds)],
    ...['x-tc-action', 'ChatCompletions', 'x-tc-version', '2023-09-01'],
    ...['x-tc-timestamp', `${seconds}`],
  ]
  return { ...call, headers: [...call.headers, ...headers] }
}

/**
 * Reads a key of the form `secret id|secret key` or `app id|secret id|secret key`, and signs calls
 * with it.
 */
export const openTencent: OpenCloud = ({ key }) => {
  const parts = key.split('|').map((part) => part.trim())
  const [id = '', secret = ''] = parts.slice(-2)
  const isRight = (parts.length === 2 || parts.length === 3) && parts.every(isVisibleText)
  if (!isRight) return null
  return {
    baseUrlFor: () => `https://${HOST}`,
    fillPath: (path, model) => path.replace(MODEL_PLACEHOLDER, () => encodeURIComponent(model)),
    authorize: async (call) => signed(call, [id, secret]),
    dropCredentials: () => {},
    confidential: () => parts,
    decoder: null,
  }
}
