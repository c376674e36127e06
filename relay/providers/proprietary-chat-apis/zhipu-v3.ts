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
import { isVisibleText } from '../header-list.ts'
import { MODEL_PLACEHOLDER, type OpenCloud } from '../provider-access-and-decoder-types.ts'
import {
  endEvents,
  errorEvents,
  reportedUsage,
  singleAnswer,
  textEvents,
  usageEvents,
} from './build-answer-events.ts'
import type { ProviderError, ProviderEvent, Translation } from './chat-translation.ts'
import {
  type Feature,
  lastQuestion,
  lossesOf,
  textConversation,
} from './text-conversation-and-losses.ts'

const FEATURES = new Set<Feature>(['temperature', 'topP'])

function writeRequest(request: CanonicalRequest, { isStream }: { readonly isStream: boolean }) {
  const losses = lossesOf(request, FEATURES)
  const conversation = textConversation(request, losses)
  lastQuestion(conversation)
  const { system, messages } = conversation
  const { temperature, topP } = request.sampling
  // This version of the API has no role for instructions, so they are put before the first text.
  const prompt = messages.map(({ role, text }, at) => ({
    role,
    content: at === 0 && system !== '' ? `${system}\n\n${text}` : text,
  }))
  const value = {
    prompt,
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(isStream ? { incremental: true } : {}),
  }
  return { value, losses }
}

function usageIn(data: JsonObject) {
  const usage = objectOrEmpty(data.usage)
  return reportedUsage(usage.prompt_tokens, usage.completion_tokens)
}

/**
 * Decodes the text of a complete answer, which Zhipu encodes as a JSON string twice. A text without
 * quotes is returned unchanged.
 */
function unquoted(text: string): string {
  if (!/^".*"$/s.test(text)) return text
  try {
    return textOf(JSON.parse(text)) ?? text
  } catch {
    return text.slice(1, -1)
  }
}

function readAnswer(body: JsonObject) {
  const data = objectOrEmpty(body.data)
  const [choice] = objectsOf(data.choices)
  if (choice === undefined) return null
  const text = unquoted(textOrEmpty(choice.content))
  return singleAnswer(textOrEmpty(data.task_id), [{ kind: 'text', text }], usageIn(data))
}

/** Zhipu's error codes by their cause (docs.bigmodel.cn/cn/api/api-code). */
const INVALID_KEY = new Set([1000, 1001, 1002, 1003, 1004, 1110, 1111, 1112])
const NO_BALANCE = 1113
const STATUSES: ReadonlyMap<number, number> = new Map([
  // The code 1231 means that the request's id was used before.
  ...[1210, 1212, 1213, 1214, 1215, 1231].map((code) => [code, 400] as const),
  // A prompt that is too long, forbidden by a policy, or sensitive.
  ...[1261, 1300, 1301].map((code) => [code, 400] as const),
  ...[1211, 1221, 1222].map((code) => [code, 404] as const),
  ...[1302, 1303, 1304, 1305, 1308, 1310, 1312, 1313].map((code) => [code, 429] as const),
])

/**
 * Reads an error. Errors have the HTTP status 200 and `success: false`, or are in the member
 * `error` as in OpenAI's format.
 */
function readError(body: JsonObject, status: number): ProviderError | null {
  const inner = objectOrEmpty(body.error)
  const isFailed = status >= 400 || body.success === false || inner.code !== undefined
  if (!isFailed) return null
  const code = numericOf(inner.code ?? body.code)
  const message = textOf(inner.message) ?? textOf(body.msg) ?? textOrEmpty(body.message)
  if (INVALID_KEY.has(code)) return { status: 401, type: 'invalid_api_key', message }
  if (code === NO_BALANCE) return { status: 429, type: 'insufficient_quota', message }
  const own = STATUSES.get(code) ?? 502
  return { status: status >= 400 ? status : own, type: `${code || 'zhipu_error'}`, message }
}

/** Reads an event. Its data is a text. The last event has the usage in the field `meta`. */
function readEvent({ name, data, fields }: ProviderEvent): readonly CanonicalEvent[] {
  if (name === 'add') return textEvents(data)
  if (name === 'error' || name === 'interrupted') {
    const body = parsedObject(data) ?? { msg: data }
    const error = readError({ ...body, success: false }, 200)
    return error === null ? [] : errorEvents(error)
  }
  if (name !== 'finish') return []
  const meta = parsedObject(fields.meta ?? '') ?? {}
  return [...textEvents(data), ...usageEvents(usageIn(meta)), ...endEvents()]
}

/** Version 3 of Zhipu's API. */
export const ZHIPU_V3: Translation = {
  writeRequest,
  readAnswer,
  readError,
  createEventReader: () => readEvent,
}

/** The lifetime of a signed token in milliseconds. Every call gets a new token. */
const TOKEN_MS = 5 * 60_000

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * Returns the token (a JWT) that Zhipu expects for a key of the form `id.secret`. `now` is in Unix
 * milliseconds.
 */
function zhipuToken(id: string, secret: string, now: number): string {
  const header = { alg: 'HS256', sign_type: 'SIGN' }
  const claims = { api_key: id, exp: now + TOKEN_MS, timestamp: now }
  const content = `${encoded(header)}.${encoded(claims)}`
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`
}

/** Reads a key of the form `id.secret`, and signs calls with it. */
export const openZhipuV3: OpenCloud = ({ key }) => {
  const [id = '', secret = '', ...rest] = key.split('.')
  if (rest.length > 0 || !isVisibleText(id) || !isVisibleText(secret)) return null
  return {
    baseUrlFor: () => 'https://open.bigmodel.cn',
    fillPath: (path, model) => path.replace(MODEL_PLACEHOLDER, () => encodeURIComponent(model)),
    authorize: async (call) => ({
      ...call,
      headers: [...call.headers, 'authorization', zhipuToken(id, secret, Date.now())],
    }),
    dropCredentials: () => {},
    confidential: () => [id, secret],
    decoder: null,
  }
}
