import { namesByFoldedName } from '#domain/shared/fold-name-case.ts'
import { readOpenAiUsage } from '#relay/canonical/provider-usage-report.ts'
import { readChatTexts } from '#relay/canonical/read-answer-texts.ts'
import { isRelayError, type RelayError, relayError } from '#relay/canonical/relay-error.ts'
import {
  flagOf,
  isMembers,
  isNumberOrNull,
  modelOf,
  RESERVED,
  wholeOf,
} from '../check-common-request-members.ts'
import { jsonError } from '../invalid-json-error.ts'
import { wantsUsageOf } from '../openai-chat/chat-request.ts'
import { OPENAI_ERRORS } from '../openai-chat/error-body.ts'
import { BodyParts, CHAT_NAMES } from '../openai-chat/find-message-parts-and-tools.ts'
import { inputBoundOf } from '../openai-chat/input-token-bound.ts'
import { OPENAI_STREAM } from '../openai-chat/stream-events.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { answerCheck, usageInAnswer } from '../openai-chat/usage-in-answer.ts'
import type { JsonKind } from '../scan-json-tokens.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import {
  type ChatRequest,
  OUTPUT_TOKENS_MAX,
  type UpstreamChange,
  type WireFormat,
} from '../wire-format.ts'
import { promptsIn } from './prompts-in-request.ts'

/** The JSON kinds that each field may have. A null counts as an absent field. */
const FIELDS: ReadonlyMap<string, readonly JsonKind[]> = new Map<string, readonly JsonKind[]>([
  ['suffix', ['string']],
  ['logprobs', ['number']],
  ['stop', ['string', 'array']],
  ['seed', ['number']],
  ['logit_bias', ['object']],
  ['user', ['string']],
])
const NUMBERS = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']
const COUNTS = ['n', 'best_of', 'max_tokens'] as const
/**
 * Members of other formats, which the providers of this format may read as a further prompt or as
 * another output limit.
 */
const REFUSED = ['messages', 'input', 'prompt_embeds', 'max_completion_tokens']
const NAMES = namesByFoldedName([
  ...['model', 'prompt', 'stream', 'stream_options', 'echo', ...COUNTS],
  ...[...NUMBERS, ...FIELDS.keys(), ...REFUSED],
])
const NO_NAMES = namesByFoldedName([])

/** The output limit of a request without one. It is sent, because some servers have no default. */
export const DEFAULT_OUTPUT_TOKENS = 16
/** The maximum number of completions of all prompts together. */
const CHOICES_MAX = 128

function isMisfit(body: Buffer, member: Member): boolean {
  const { key, kind } = member
  if (kind === 'null') return false
  if (NUMBERS.includes(key)) return !isNumberOrNull(body, member)
  return REFUSED.includes(key) || FIELDS.get(key)?.includes(kind) === false
}

/**
 * Reads a request of OpenAI's completions without building objects. Each prompt gets `n`
 * completions. The provider may choose them from more (`best_of`). `known` is empty if a checked
 * request is read again after a change.
 */
export function readCompletionRequest(body: Buffer, known = NAMES): ChatRequest | RelayError {
  const members = scanObject(body, known)
  if (!isMembers(members)) return jsonError(body, members)
  const find = (key: string) => members.find((member) => member.key === key)
  if (find(RESERVED) !== undefined) return invalid(RESERVED)
  const model = modelOf(body, find('model'))
  if (typeof model !== 'string') return model
  const prompts = promptsIn(body, find('prompt'))
  if (isRelayError(prompts)) return prompts
  const misfit = members.find((member) => isMisfit(body, member))
  if (misfit !== undefined) return invalid(misfit.key)
  const isStream = flagOf(find('stream'))
  if (isStream === null) return invalid('stream')
  const isEchoed = flagOf(find('echo'))
  if (isEchoed === null) return invalid('echo')
  const wantsUsage = wantsUsageOf(body, find('stream_options'))
  if (typeof wantsUsage !== 'boolean') return wantsUsage
  const counts = countsOf(body, find, prompts.count)
  if (isRelayError(counts)) return counts
  // The text of an echoed prompt is delivered as a part of its completion.
  const echoed = isEchoed ? Math.ceil(body.length / prompts.count) : 0
  const bound = inputBoundOf(body, members, new BodyParts(body, CHAT_NAMES))
  return {
    format: OPENAI_COMPLETIONS,
    body,
    members,
    model,
    isStream,
    wantsUsage,
    choices: counts.choices,
    returnedChoices: counts.returned,
    outputTokensMax: Math.min(OUTPUT_TOKENS_MAX, counts.outputTokens + echoed),
    reasoningEffort: null,
    inputBound: { ...bound, isText: bound.isText && prompts.isText },
    tools: [],
  }
}

const invalid = (param: string): RelayError => relayError('invalid_parameter', { param })

type Counts = {
  readonly choices: number
  readonly returned: number
  readonly outputTokens: number
}

function countsOf(
  body: Buffer,
  find: (key: string) => Member | undefined,
  prompts: number,
): Counts | RelayError {
  const outputTokens = wholeOf(body, find('max_tokens'), 1, OUTPUT_TOKENS_MAX)
  if (outputTokens === undefined) return invalid('max_tokens')
  const returned = wholeOf(body, find('n'), 1, CHOICES_MAX)
  if (returned === undefined) return invalid('n')
  const generated = wholeOf(body, find('best_of'), 1, CHOICES_MAX)
  if (generated === undefined) return invalid('best_of')
  const perPrompt = Math.max(returned ?? 1, generated ?? 1)
  if (perPrompt * prompts > CHOICES_MAX) return invalid(prompts > 1 ? 'prompt' : 'n')
  return {
    choices: perPrompt * prompts,
    returned: (returned ?? 1) * prompts,
    outputTokens: outputTokens ?? DEFAULT_OUTPUT_TOKENS,
  }
}

/** Returns an outline with as many completions and the same limits, but only short prompts. */
function outlineOf({ body, members, model, isStream }: ChatRequest): ChatRequest {
  const find = (key: string) => members.find((member) => member.key === key)
  const prompts = promptsIn(body, find('prompt'))
  const count = isRelayError(prompts) ? 1 : prompts.count
  const limits = COUNTS.flatMap((key) => {
    const value = wholeOf(body, find(key), 1, OUTPUT_TOKENS_MAX)
    return typeof value === 'number' ? [[key, value]] : []
  })
  const prompt = Array.from({ length: count }, () => 'x')
  const text = { model, stream: isStream, prompt, ...Object.fromEntries(limits) }
  const outline = readCompletionRequest(Buffer.from(JSON.stringify(text)), NO_NAMES)
  if (isRelayError(outline)) throw new Error(`the outline of a request is invalid: ${outline.code}`)
  return outline
}

/** Adds the default output limit to a request without one. */
function withLimit({ body, members }: ChatRequest, change: UpstreamChange): UpstreamChange {
  const sent = members.find(({ key }) => key === 'max_tokens')
  const hasLimit = typeof wholeOf(body, sent, 1, OUTPUT_TOKENS_MAX) === 'number'
  if (hasLimit || change.overrides.has('max_tokens')) return change
  const overrides = new Map([...change.overrides, ['max_tokens', `${DEFAULT_OUTPUT_TOKENS}`]])
  return { ...change, overrides }
}

/** OpenAI's completions, the API before chats. Self-hosted servers offer it for base models. */
export const OPENAI_COMPLETIONS: WireFormat = {
  name: 'completions',
  promptMember: 'prompt',
  readRequest: (body) => readCompletionRequest(body),
  readChangedRequest: (body) => readCompletionRequest(body, NO_NAMES),
  shortBody: ({ model, isStream }, outputTokens) => ({
    model,
    prompt: 'hi',
    max_tokens: outputTokens,
    ...(isStream ? { stream: true } : {}),
  }),
  outlineOf,
  upstreamBody: (request, change) => upstreamBody(request, withLimit(request, change)),
  passedHeaders: () => [],
  usageInAnswer,
  readUsage: (raw, { isOutputTotalLessPrompt, ...bounds }) =>
    readOpenAiUsage(raw, bounds, isOutputTotalLessPrompt),
  errorOfAnswer: answerCheck('choices'),
  // A chunk of a stream has the same members as an answer.
  streamOfAnswer: (body) =>
    `data: ${body.toString('utf8').replace(/[\r\n]+/g, ' ')}\n\ndata: [DONE]\n\n`,
  readTexts: readChatTexts,
  stream: OPENAI_STREAM,
  errors: OPENAI_ERRORS,
}
