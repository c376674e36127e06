import { type NamesByFoldedName, namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { objectOrEmpty, textOrEmpty } from '#relay/canonical/json-values.ts'
import { readAnthropicUsage } from '#relay/canonical/read-anthropic-usage-for-billing.ts'
import {
  invalidParameter,
  isRelayError,
  type RelayError,
  relayError,
} from '#relay/canonical/relay-error.ts'
import { nestedMemberRules } from '../check-nested-json-members.ts'
import { answerListCheck } from '../check-successful-answer.ts'
import { FileIdFinder } from '../find-file-ids.ts'
import {
  type BodyNames,
  CHAT_NAMES,
  MessagePartAndToolFinder,
  meanings,
  namesOfTool,
  TOOLS_MAX,
} from '../openai-chat/find-message-parts-and-tools.ts'
import { inputBoundOf } from '../openai-chat/input-token-bound.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { usageInAnswer } from '../openai-chat/usage-in-answer.ts'
import { sendsFastMode } from '../price-conditions-of-call.ts'
import {
  errorInKinds,
  errorInMessages,
  flagOf,
  integerOf,
  isMembers,
  type MemberRules,
  membersAndModel,
  notFlag,
  outOfRange,
  validOutline,
} from '../read-common-request-members.ts'
import type { JsonKind } from '../scan-json-tokens.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import {
  type ChatRequest,
  OUTPUT_TOKENS_MAX,
  type UpstreamBody,
  type UpstreamChange,
  type WireFormat,
} from '../wire-format.ts'
import { ANTHROPIC_ERRORS } from './error-format.ts'
import { passedHeaders } from './headers-passed-to-provider.ts'
import { limitTools } from './limit-provider-tools.ts'
import { readMessageTexts } from './read-message-texts.ts'
import { ANTHROPIC_STREAM, streamOfMessage } from './stream-events.ts'

/**
 * The types and members of content blocks that have at most one token per byte, because their
 * content is in the request itself. The list omits the names of pictures and documents, because
 * these may have more tokens than bytes.
 */
const PLAIN_NAMES = [
  ...['text', 'thinking', 'signature', 'redacted_thinking', 'data', 'cache_control', 'citations'],
  ...['tool_use', 'id', 'name', 'input', 'caller', 'tool_result', 'tool_use_id', 'content'],
  ...['is_error', 'source', 'type', 'title', 'context', 'search_result', 'tool_reference'],
  ...['tool_name', 'server_tool_use', 'web_search_tool_result', 'web_search_result', 'url'],
  ...['encrypted_content', 'page_age', 'web_fetch_tool_result', 'code_execution_tool_result'],
  ...['bash_code_execution_tool_result', 'text_editor_code_execution_tool_result'],
  ...['tool_search_tool_result', 'compaction'],
]

/**
 * Matches the types of tools that have no separate price. The caller runs most of them, such as
 * Anthropic's `bash_20250124`. The tool search only finds other tools of the request.
 */
const CALLER_TOOL = /^(?:custom|(?:bash|text_editor|computer|memory|tool_search_tool_\w+)_\d{8})$/

const MESSAGES_NAMES: BodyNames = {
  list: CHAT_NAMES.list,
  contents: CHAT_NAMES.contents,
  inPart: meanings(PLAIN_NAMES),
  inMessage: meanings([]),
  callerTool: CALLER_TOOL,
  untypedTool: namesOfTool([
    ...['name', 'description', 'input_schema', 'cache_control', 'strict', 'defer_loading'],
    ...['allowed_callers', 'input_examples', 'eager_input_streaming'],
  ]),
  hasResults: true,
}

/**
 * The JSON kinds that each field may have. A field of another kind is refused. The provider checks
 * the values. A null counts as an absent field.
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

const MEMBER_RULES: MemberRules = {
  kinds: FIELDS,
  numbers: NUMBERS,
  lists: new Map([['tools', TOOLS_MAX]]),
}

/**
 * Reads a request of Anthropic's Messages API without parsing it into objects. Returns an error if
 * a member's name resembles a name in `known`, for example in another letter case. `known` is empty
 * if a checked request is read again after a change. `max_tokens` may be missing, because the
 * gateway has a default limit.
 */
export function readMessagesRequest(
  body: Buffer,
  known: NamesByFoldedName = NAMES,
): ChatRequest | RelayError {
  const finder = new MessagePartAndToolFinder(body, MESSAGES_NAMES)
  const files = new FileIdFinder(body, finder)
  const request = membersAndModel(body, scanObject(body, known, MESSAGE_RULES, files))
  if (isRelayError(request)) return request
  const { members, model, find } = request
  const error = errorInMessages(find('messages'), finder.ambiguity)
  if (error !== null) return error
  const kindError = errorInKinds(body, members, MEMBER_RULES)
  if (kindError !== null) return kindError
  const isStream = flagOf(find('stream'))
  if (isStream === null) return notFlag('stream')
  const outputTokensMax = integerOf(body, find('max_tokens'), 1, OUTPUT_TOKENS_MAX)
  if (outputTokensMax === undefined) return outOfRange('max_tokens', 1, OUTPUT_TOKENS_MAX)
  const limitedTools = limitTools(body, finder.tools)
  if (isRelayError(limitedTools)) return limitedTools
  return {
    format: ANTHROPIC_MESSAGES,
    body,
    members,
    model,
    isStream,
    // The format's first and last events contain the usage, so every caller receives the usage.
    wantsUsage: true,
    choices: 1,
    outputTokensMax,
    reasoningEffort: null,
    inputBound: inputBoundOf(body, members, finder),
    ...limitedTools,
    ...files.found,
  }
}

const CONTEXT_MANAGEMENT = 'context_management'
/**
 * The maximum length in bytes of the value of `context_management`. Clients send a few edits of
 * some hundred bytes.
 */
const CONTEXT_MANAGEMENT_BYTES_MAX = 65_536
const EDIT_NAMES = namesByFoldedName(['edits'])
const EDIT_RULES = nestedMemberRules('edits', { type: ['string'] })
/** Matches the types of edits that compact the conversation, such as `compact_20260112`. */
const COMPACT = /compact/i

/**
 * Returns an error if `context_management` lets the provider compact the conversation, if it is too
 * long to be checked, or if the provider may read its edits differently from the gateway. A
 * compaction is a second call of the model, which the hold (the reserved quota) does not cover. All
 * other edits only remove content and are accepted.
 */
function errorInContextManagement(body: Buffer, members: readonly Member[]): RelayError | null {
  const member = members.find(({ key }) => key === CONTEXT_MANAGEMENT)
  if (member?.kind !== 'object') return null
  const bytes = body.subarray(member.valueStart, member.valueEnd)
  const inner =
    bytes.length > CONTEXT_MANAGEMENT_BYTES_MAX ? null : scanObject(bytes, EDIT_NAMES, EDIT_RULES)
  const edits = inner !== null && isMembers(inner) ? inner.find(({ key }) => key === 'edits') : null
  if (edits === undefined) return null
  if (edits === null || edits.kind !== 'array' || edits.ambiguity !== null) {
    return invalidParameter(CONTEXT_MANAGEMENT)
  }
  const list = JSON.parse(bytes.toString('utf8', edits.valueStart, edits.valueEnd)) as unknown[]
  const isCompact = list.some((edit) => COMPACT.test(typeOf(edit)))
  return isCompact ? relayError('parameter_not_supported', { param: CONTEXT_MANAGEMENT }) : null
}

const typeOf = (edit: unknown): string => textOrEmpty(objectOrEmpty(edit).type)

/**
 * Reads a caller's request. A request for a compaction is refused, because only an admin's override
 * may ask for a compaction.
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
  return validOutline(readMessagesRequest(Buffer.from(JSON.stringify(text)), NO_NAMES))
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
  errorOfAnswer: answerListCheck({ list: 'content', usageIn: usageInAnswer }),
  streamOfAnswer: streamOfMessage,
  readTexts: readMessageTexts,
  stream: ANTHROPIC_STREAM,
  errors: ANTHROPIC_ERRORS,
}
