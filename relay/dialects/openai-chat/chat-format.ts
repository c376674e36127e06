import { OUTPUT_LIMITS, READ_MEMBERS } from '#domain/channels/restricted-request-members.ts'
import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { countLongWritesAsOneHour } from '#relay/canonical/count-cache-writes-as-one-hour.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { readOpenAiUsage } from '#relay/canonical/read-openai-usage-for-billing.ts'
import { invalidParameter, isRelayError, type RelayError } from '#relay/canonical/relay-error.ts'
import { nestedMemberRules } from '../check-nested-json-members.ts'
import { answerListCheck } from '../check-successful-answer.ts'
import { FileIdFinder } from '../find-file-ids.ts'
import { ambiguousKey } from '../invalid-json-error.ts'
import { passedHeaders } from '../openai-responses/headers-passed-to-provider.ts'
import { readResponsesRequest } from '../openai-responses/responses-format.ts'
import {
  effortOf,
  errorInKinds,
  errorInMessages,
  flagOf,
  integerOf,
  isMembers,
  type MemberRules,
  membersAndModel,
  notFlag,
  outOfRange,
  RESERVED,
  validOutline,
} from '../read-common-request-members.ts'
import { errorInReasoningMode } from '../refuse-priced-reasoning-mode.ts'
import type { JsonKind } from '../scan-json-tokens.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import { type ChatRequest, OUTPUT_TOKENS_MAX, type WireFormat } from '../wire-format.ts'
import { OPENAI_ERRORS } from './error-format.ts'
import { errorInChoices } from './error-of-failed-choice.ts'
import {
  CHAT_NAMES,
  MessagePartAndToolFinder,
  TOOLS_MAX,
  type ToolElement,
} from './find-message-parts-and-tools.ts'
import { inputBoundOf } from './input-token-bound.ts'
import { readChatTexts } from './read-chat-texts.ts'
import { OPENAI_STREAM, streamOfAnswer } from './stream-events.ts'
import { upstreamBody } from './upstream-body.ts'
import { usageInAnswer } from './usage-in-answer.ts'

const FLAG: readonly JsonKind[] = ['true', 'false']

/**
 * The JSON kinds that each field may have in any version of the API. A field of another kind is
 * refused. The provider checks the values. A null counts as an absent field.
 */
const FIELDS: ReadonlyMap<string, readonly JsonKind[]> = new Map<string, readonly JsonKind[]>([
  ['tools', ['array']],
  ['tool_choice', ['string', 'object']],
  ['parallel_tool_calls', FLAG],
  ['functions', ['array']],
  ['function_call', ['string', 'object']],
  ['response_format', ['object']],
  ['stop', ['string', 'array']],
  ['seed', ['number']],
  ['logprobs', FLAG],
  ['top_logprobs', ['number']],
  ['logit_bias', ['object']],
  ['modalities', ['array']],
  ['metadata', ['object']],
  ['user', ['string']],
])
const FIELD_NAMES = FIELDS.keys().toArray()

const MESSAGE_RULES = nestedMemberRules('messages', {
  role: ['string'],
  content: ['string', 'array', 'null'],
  name: ['string', 'null'],
  tool_calls: ['array', 'null'],
  tool_call_id: ['string', 'null'],
})

const CHOICES_MAX = 128
const NUMBERS = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']
const MEMBER_RULES: MemberRules = {
  kinds: FIELDS,
  numbers: NUMBERS,
  lists: new Map([
    ['tools', TOOLS_MAX],
    ['functions', Number.POSITIVE_INFINITY],
  ]),
}
const OUTLINED = ['n', ...OUTPUT_LIMITS]
const NAMES = namesByFoldedName([...READ_MEMBERS, ...OUTPUT_LIMITS, ...NUMBERS, ...FIELD_NAMES])
const NO_NAMES = namesByFoldedName([])
const MODE = namesByFoldedName(['mode'])
const SEARCH_OPTIONS = 'web_search_options'
const STREAM_OPTIONS = namesByFoldedName(['include_usage'])

/**
 * Reads a chat request without parsing it into objects. Returns an error if a member's name
 * resembles a name in `known`, for example in another letter case. `known` is empty if a checked
 * request is read again after a change. If the request has `input` instead of `messages`, it is
 * read as a request of the Responses API, because some clients send such requests to this path.
 */
export function readChatRequest(body: Buffer, known = NAMES): ChatRequest | RelayError {
  const finder = new MessagePartAndToolFinder(body, CHAT_NAMES)
  const files = new FileIdFinder(body, finder)
  const scanned = scanObject(body, known, MESSAGE_RULES, files)
  const has = (name: string) => isMembers(scanned) && scanned.some(({ key }) => key === name)
  if (has('input') && !has('messages')) {
    return readResponsesRequest(body, known === NO_NAMES ? NO_NAMES : undefined)
  }
  const request = membersAndModel(body, scanned)
  if (isRelayError(request)) return request
  const { members, model, find } = request
  const error = errorInMessages(find('messages'), finder.ambiguity)
  if (error !== null) return error
  const kindError = errorInKinds(body, members, MEMBER_RULES)
  if (kindError !== null) return kindError
  const isStream = flagOf(find('stream'))
  if (isStream === null) return notFlag('stream')
  const wantsUsage = wantsUsageOf(body, find('stream_options'))
  if (typeof wantsUsage !== 'boolean') return wantsUsage
  const limits = limitsOf(body, find)
  if (isRelayError(limits)) return limits
  // The mode of `reasoning` is restricted only for callers. An admin's override may set any mode.
  const modeError = known === NO_NAMES ? null : errorInReasoning(body, find('reasoning'))
  if (modeError !== null) return modeError
  return {
    format: OPENAI_CHAT,
    body,
    members,
    model,
    isStream,
    wantsUsage,
    ...limits,
    reasoningEffort: effortOf(body, find('reasoning_effort')),
    inputBound: inputBoundOf(body, members, finder),
    tools: withoutPrice(finder.tools),
    ...files.found,
    ...searchLimits(find(SEARCH_OPTIONS), limits.choices),
  }
}

/**
 * Marks the tools that the provider runs as unpriced, so that no channel can allow them. Providers
 * bill these tools in many ways, and the gateway has no prices for them in chats.
 */
const withoutPrice = (tools: readonly ToolElement[]): readonly ToolElement[] =>
  tools.some(({ isProviderTool }) => isProviderTool)
    ? tools.map((tool) => (tool.isProviderTool ? { ...tool, isUnpriced: true } : tool))
    : tools

/**
 * Returns the limits of the web search that `member` requests. With this member, a model searches
 * once before each answer. The answer does not report this search.
 */
function searchLimits(
  member: Member | undefined,
  choices: number,
): Pick<ChatRequest, 'toolLimits'> {
  if (member === undefined || member.kind === 'null') return {}
  const uses = { web_search_preview: choices }
  const assumedUses = { uses, of: 'every-answer' } as const
  return { toolLimits: { uses, assumedUses, edits: [], allowedBy: SEARCH_OPTIONS } }
}

/**
 * Returns the error in the `mode` of `reasoning`, or null if there is none. Some gateways read
 * `reasoning` in chat requests.
 */
function errorInReasoning(body: Buffer, reasoning: Member | undefined): RelayError | null {
  if (reasoning?.kind !== 'object') return null
  const bytes = bytesOf(body, reasoning)
  const options = scanObject(bytes, MODE)
  if (isMembers(options)) {
    const mode = options.find(({ key }) => key === 'mode')
    return errorInReasoningMode(bytes, mode)
  }
  if (options.error !== 'ambiguous') return invalidParameter('reasoning')
  return ambiguousKey(`reasoning.${options.key}`, options.other)
}

/**
 * The maximum length in bytes of a number in an outline (a short form of a request). A longer
 * number is rewritten in a shorter notation.
 */
const OUTLINE_NUMBER_BYTES_MAX = 32

/**
 * Returns an outline (a short form) of the request. It has the same model, limits, number of
 * choices and web search, but only one short message.
 */
function outlineOf({ body, members, model, isStream }: ChatRequest): ChatRequest {
  const limits = members.flatMap(({ key, kind, valueStart, valueEnd }) => {
    if (key === SEARCH_OPTIONS && kind !== 'null') return [`"${key}":{}`]
    if (!OUTLINED.includes(key)) return []
    const text = body.toString('latin1', valueStart, valueEnd)
    return [`"${key}":${text.length > OUTLINE_NUMBER_BYTES_MAX ? Number(text) : text}`]
  })
  const head = `"model":${JSON.stringify(model)},"stream":${isStream},"messages":[{"role":"user","content":"x"}]`
  return validOutline(readChatRequest(Buffer.from(`{${[head, ...limits].join()}}`), NO_NAMES))
}

function limitsOf(
  body: Buffer,
  find: (key: string) => Member | undefined,
): Pick<ChatRequest, 'choices' | 'outputTokensMax'> | RelayError {
  const choices = integerOf(body, find('n'), 1, CHOICES_MAX)
  if (choices === undefined) return outOfRange('n', 1, CHOICES_MAX)
  const older = integerOf(body, find('max_tokens'), 0, OUTPUT_TOKENS_MAX)
  if (older === undefined) return outOfRange('max_tokens', 0, OUTPUT_TOKENS_MAX)
  const newer = integerOf(body, find('max_completion_tokens'), 0, OUTPUT_TOKENS_MAX)
  if (newer === undefined) return outOfRange('max_completion_tokens', 0, OUTPUT_TOKENS_MAX)
  // NOTE: some clients send 0 to request no limit. If one of the two limits is 0, both are ignored,
  // because the provider may read only the limit that is 0.
  const limits = [older, newer].filter((limit) => limit !== null)
  const isLimited = limits.length > 0 && !limits.includes(0)
  return { choices: choices ?? 1, outputTokensMax: isLimited ? Math.max(...limits) : null }
}

/**
 * Reports whether `stream_options` requests the chunk with the usage. Returns an error if the
 * options are invalid. NOTE: the object is scanned and not parsed, because parsing many different
 * keys would block the event loop.
 */
export function wantsUsageOf(body: Buffer, member: Member | undefined): boolean | RelayError {
  if (member === undefined || member.kind === 'null') return false
  const options =
    member.kind === 'object' ? scanObject(bytesOf(body, member), STREAM_OPTIONS) : null
  if (options === null) return badOption('')
  if (!isMembers(options)) {
    if (options.error !== 'ambiguous') return badOption('')
    return ambiguousKey(`stream_options.${options.key}`, options.other)
  }
  if (options.some(({ key }) => key === RESERVED)) return badOption(`.${RESERVED}`)
  return flagOf(options.find(({ key }) => key === 'include_usage')) ?? badOption('')
}

const badOption = (path: string): RelayError => invalidParameter(`stream_options${path}`)

const bytesOf = (body: Buffer, { valueStart, valueEnd }: Member): Buffer =>
  body.subarray(valueStart, valueEnd)

/** Matches reasoning models, which reject `max_tokens` and require `max_completion_tokens`. */
const REASONING_MODELS = /(^|\/)(o[1-9]|gpt-5)/

const shortBody: WireFormat['shortBody'] = ({ model, isStream }, outputTokens) => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  [REASONING_MODELS.test(model) ? 'max_completion_tokens' : 'max_tokens']: outputTokens,
  ...(isStream ? { stream: true } : {}),
})

/** OpenAI's chat completions API, which most providers offer. */
export const OPENAI_CHAT: WireFormat = {
  name: 'chat',
  readRequest: (body) => readChatRequest(body),
  readChangedRequest: (body) => readChatRequest(body, NO_NAMES),
  shortBody,
  outlineOf,
  upstreamBody,
  usageInAnswer,
  readUsage: (raw, { body, isOutputTotalLessPrompt, ...bounds }) => {
    const report = readOpenAiUsage(raw, bounds, isOutputTotalLessPrompt)
    const { prompt_tokens_details: details } = objectOrEmpty(raw)
    return countLongWritesAsOneHour(report, details, body)
  },
  errorOfAnswer: answerListCheck({
    ...{ list: 'choices', usageIn: usageInAnswer, errorOfFailed: errorInChoices },
  }),
  errorOfFailedAnswer: errorInChoices,
  passedHeaders,
  streamOfAnswer,
  readTexts: readChatTexts,
  stream: OPENAI_STREAM,
  errors: OPENAI_ERRORS,
}
