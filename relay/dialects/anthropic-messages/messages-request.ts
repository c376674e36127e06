import { type NamesByFoldedName, namesByFoldedName } from '#domain/shared/fold-name-case.ts'
import { readAnthropicUsage } from '#relay/canonical/anthropic-usage-report.ts'
import { isRelayError, type RelayError, relayError } from '#relay/canonical/relay-error.ts'
import {
  errorInMessages,
  flagOf,
  integerOf,
  isMembers,
  isNumberOrNull,
  modelOf,
  RESERVED,
} from '../check-common-request-members.ts'
import { nestedMemberRules } from '../check-nested-json-members.ts'
import { FileIdFinder } from '../find-file-ids.ts'
import { jsonError } from '../invalid-json-error.ts'
import { MessagePartAndToolFinder, TOOLS_MAX } from '../openai-chat/find-message-parts-and-tools.ts'
import { inputBoundOf } from '../openai-chat/input-token-bound.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { answerCheck, usageInAnswer } from '../openai-chat/usage-in-answer.ts'
import { sendsFastMode } from '../price-conditions-of-call.ts'
import type { JsonKind } from '../scan-json-tokens.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import {
  type ChatRequest,
  OUTPUT_TOKENS_MAX,
  type UpstreamBody,
  type UpstreamChange,
  type WireFormat,
} from '../wire-format.ts'
import { ANTHROPIC_ERRORS } from './error-body.ts'
import { passedHeaders } from './headers-passed-to-provider.ts'
import { limitTools } from './limit-provider-tools.ts'
import { MESSAGES_NAMES } from './names-of-content-parts-and-tools.ts'
import { readMessageTexts } from './read-message-texts.ts'
import { errorInContextManagement } from './refuse-compaction.ts'
import { ANTHROPIC_STREAM, streamOfMessage } from './stream-events.ts'

/**
 * The JSON kinds that each field may have. A request with another kind is refused. The provider
 * checks the values. A null counts as an absent field.
 */
const FIELDS: ReadonlyMap<string, readonly JsonKind[]> = new Map<string, readonly JsonKind[]>([
  ['system', ['string', 'array']],
  ['tools', ['array']],
  ['tool_choice', ['object']],
  ['metadata', ['object']],
  ['thinking', ['object']],
  ['output_config', ['object']],
  ['output_format', ['object']],
  ['context_management', ['object']],
  ['cache_control', ['object']],
  ['stop_sequences', ['array']],
])
const NUMBERS = ['temperature', 'top_p', 'top_k']
const MESSAGE_RULES = nestedMemberRules('messages', {
  role: ['string'],
  content: ['string', 'array'],
})
const NAMES = namesByFoldedName([
  ...['model', 'messages', 'stream', 'max_tokens', ...NUMBERS, ...FIELDS.keys()],
])
const NO_NAMES = namesByFoldedName([])

function isMisfit(body: Buffer, member: Member): boolean {
  const { key, kind, length, isAllObjects } = member
  if (NUMBERS.includes(key)) return !isNumberOrNull(body, member)
  const kinds = FIELDS.get(key)
  if (kinds === undefined || kind === 'null') return false
  if (key === 'tools' && kind === 'array' && (length > TOOLS_MAX || !isAllObjects)) return true
  return !kinds.includes(kind)
}

/**
 * Reads a request of Anthropic's Messages API without parsing it into objects. Returns an error if
 * a member's name may be mistaken for a name in `known`. `known` are the names for which
 * look-alikes are refused. It is empty if a checked request is read again after a change.
 * `max_tokens` may be missing, because the gateway has a default for it.
 */
export function readMessagesRequest(
  body: Buffer,
  known: NamesByFoldedName = NAMES,
): ChatRequest | RelayError {
  const finder = new MessagePartAndToolFinder(body, MESSAGES_NAMES)
  const files = new FileIdFinder(body, finder)
  const members = scanObject(body, known, MESSAGE_RULES, files)
  if (!isMembers(members)) return jsonError(body, members)
  const find = (key: string) => members.find((member) => member.key === key)
  if (find(RESERVED) !== undefined) return relayError('invalid_parameter', { param: RESERVED })
  const model = modelOf(body, find('model'))
  if (typeof model !== 'string') return model
  const error = errorInMessages(find('messages'), finder.ambiguity)
  if (error !== null) return error
  const misfit = members.find((member) => isMisfit(body, member))
  if (misfit !== undefined) return relayError('invalid_parameter', { param: misfit.key })
  const isStream = flagOf(find('stream'))
  if (isStream === null) return relayError('invalid_parameter', { param: 'stream' })
  const outputTokensMax = integerOf(body, find('max_tokens'), 1, OUTPUT_TOKENS_MAX)
  if (outputTokensMax === undefined) return relayError('invalid_parameter', { param: 'max_tokens' })
  const limitedTools = limitTools(body, finder.tools)
  if (isRelayError(limitedTools)) return limitedTools
  return {
    format: ANTHROPIC_MESSAGES,
    body,
    members,
    model,
    isStream,
    // The format's first and last events contain the usage, so every caller receives it.
    wantsUsage: true,
    choices: 1,
    outputTokensMax,
    reasoningEffort: null,
    inputBound: inputBoundOf(body, members, finder),
    ...limitedTools,
    ...files.found,
  }
}

/**
 * Reads a caller's request. It must not ask for a compaction, but an admin's override may do so.
 */
function readCallersRequest(body: Buffer): ChatRequest | RelayError {
  const request = readMessagesRequest(body)
  if (isRelayError(request)) return request
  return errorInContextManagement(body, request.members) ?? request
}

const messagesBody = (request: ChatRequest, change: UpstreamChange): UpstreamBody =>
  upstreamBody(request, { ...change, forcesUsage: false })

function outlineOf({ model, isStream, outputTokensMax }: ChatRequest): ChatRequest {
  const messages = [{ role: 'user', content: 'x' }]
  const text = { model, stream: isStream, messages, max_tokens: outputTokensMax }
  const outline = readMessagesRequest(Buffer.from(JSON.stringify(text)), NO_NAMES)
  if (isRelayError(outline)) throw new Error(`the outline of a request is invalid: ${outline.code}`)
  return outline
}

const shortBody: WireFormat['shortBody'] = ({ model, isStream }, outputTokens) => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  max_tokens: outputTokens,
  ...(isStream ? { stream: true } : {}),
})

/** Anthropic's Messages API. */
export const ANTHROPIC_MESSAGES: WireFormat = {
  name: 'messages',
  readRequest: readCallersRequest,
  readChangedRequest: (body) => readMessagesRequest(body, NO_NAMES),
  shortBody,
  outlineOf,
  upstreamBody: messagesBody,
  passedHeaders: (headers, request) =>
    passedHeaders(headers, request !== undefined && sendsFastMode(request)),
  usageInAnswer,
  readUsage: readAnthropicUsage,
  errorOfAnswer: answerCheck('content'),
  streamOfAnswer: streamOfMessage,
  readTexts: readMessageTexts,
  stream: ANTHROPIC_STREAM,
  errors: ANTHROPIC_ERRORS,
}
