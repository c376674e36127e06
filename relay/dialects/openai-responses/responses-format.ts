import { isRestrictedMember, OUTPUT_LIMITS } from '#domain/channels/restricted-request-members.ts'
import { type NamesByFoldedName, namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { readResponsesUsage } from '#relay/canonical/read-openai-usage-for-billing.ts'
import {
  invalidParameter,
  isRelayError,
  type RelayError,
  relayError,
} from '#relay/canonical/relay-error.ts'
import { nestedMemberRules } from '../check-nested-json-members.ts'
import { FileIdFinder } from '../find-file-ids.ts'
import { ambiguousKey } from '../invalid-json-error.ts'
import { TOOLS_MAX } from '../openai-chat/find-message-parts-and-tools.ts'
import { inputBoundOf } from '../openai-chat/input-token-bound.ts'
import { type BodyRules, upstreamBody } from '../openai-chat/upstream-body.ts'
import { usageInAnswer } from '../openai-chat/usage-in-answer.ts'
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
  validOutline,
} from '../read-common-request-members.ts'
import { errorInReasoningMode } from '../refuse-priced-reasoning-mode.ts'
import type { JsonKind } from '../scan-json-tokens.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import {
  type ChatRequest,
  OUTPUT_TOKENS_MAX,
  type StoredInput,
  type StoredReference,
  type WireFormat,
} from '../wire-format.ts'
import { ItemAndToolFinder, REFERENCES_MAX, STORED_ID } from './find-input-items-and-tools.ts'
import { passedHeaders } from './headers-passed-to-provider.ts'
import { limitTools, outlinedTools, TOOL_CALLS_LIMIT } from './limit-provider-tools.ts'
import { readResponseTexts } from './read-response-texts.ts'
import { errorOfResponse, RESPONSES_ERRORS, redactedResponse } from './response-errors.ts'
import { RESPONSES_STREAM, streamOfResponse } from './stream-events.ts'

const FLAG: readonly JsonKind[] = ['true', 'false']

/**
 * The JSON kinds that each field may have. A field of another kind is refused. The provider checks
 * the values. A null counts as an absent field.
 */
const FIELDS: ReadonlyMap<string, readonly JsonKind[]> = new Map<string, readonly JsonKind[]>([
  ['instructions', ['string']],
  ['tools', ['array']],
  ['tool_choice', ['string', 'object']],
  ['parallel_tool_calls', FLAG],
  ['reasoning', ['object']],
  ['text', ['object']],
  ['include', ['array']],
  ['metadata', ['object']],
  ['store', FLAG],
  ['background', FLAG],
  ['truncation', ['string']],
  ['prompt_cache_key', ['string']],
  ['stream_options', ['object']],
  ['user', ['string']],
])
const NUMBERS = ['temperature', 'top_p', 'top_logprobs', TOOL_CALLS_LIMIT]
/**
 * Members that refer to content at the provider. They are refused, because the gateway does not
 * know the length of the content, and because the content may belong to another caller.
 */
const STORED = ['conversation', 'prompt']
const PREVIOUS = 'previous_response_id'
const LIMIT = 'max_output_tokens'

const INPUT_RULES = nestedMemberRules('input', {
  id: ['string', 'null'],
  type: ['string', 'null'],
  role: ['string', 'null'],
  content: ['string', 'array', 'null'],
})
const NAMES = namesByFoldedName([
  ...['model', 'input', 'stream', LIMIT, PREVIOUS, ...STORED, ...NUMBERS, ...FIELDS.keys()],
])
const NO_NAMES = namesByFoldedName([])
const REASONING = namesByFoldedName(['effort', 'mode'])

const MEMBER_RULES: MemberRules = {
  kinds: FIELDS,
  numbers: NUMBERS,
  lists: new Map([['tools', TOOLS_MAX]]),
}

/**
 * Reads a request of OpenAI's Responses API without parsing it into objects. Member names that
 * resemble a name in `known` are refused. `known` is empty if a checked request is read again after
 * a change.
 */
export function readResponsesRequest(body: Buffer, known = NAMES): ChatRequest | RelayError {
  const finder = new ItemAndToolFinder(body)
  const files = new FileIdFinder(body, finder)
  const request = membersAndModel(body, scanObject(body, known, INPUT_RULES, files))
  if (isRelayError(request)) return request
  const { members, model, find } = request
  const error = errorInInput(find('input'), finder) ?? errorOfStored(members, finder)
  if (error !== null) return error
  const stored = storedInput(body, find(PREVIOUS), finder)
  if (isRelayError(stored)) return stored
  const kindError = errorInKinds(body, members, MEMBER_RULES)
  if (kindError !== null) return kindError
  const isStream = flagOf(find('stream'))
  if (isStream === null) return notFlag('stream')
  const outputTokensMax = integerOf(body, find(LIMIT), 1, OUTPUT_TOKENS_MAX)
  if (outputTokensMax === undefined) return outOfRange(LIMIT, 1, OUTPUT_TOKENS_MAX)
  const reasoningEffort = readEffort(body, find('reasoning'), known)
  if (reasoningEffort !== null && typeof reasoningEffort !== 'string') return reasoningEffort
  const inputBound = inputBoundOf(body, members, finder)
  const isText = inputBound.isText && !finder.hasEncryptedItem
  return {
    format: OPENAI_RESPONSES,
    body,
    members,
    model,
    isStream,
    // The last event contains the usage, so every caller receives the usage.
    wantsUsage: true,
    choices: 1,
    outputTokensMax,
    reasoningEffort,
    inputBound: { ...inputBound, isText },
    ...limitTools(body, members, finder.tools),
    ...files.found,
    ...(stored.references.length === 0 ? {} : { stored }),
  }
}

/**
 * Returns an error if the request refers to content in `STORED`, or if an input item contains a
 * tool that the provider runs. The cost of such a request has no bound. Returns null for any other
 * request.
 */
function errorOfStored(
  members: readonly Member[],
  { itemWithProviderTool }: ItemAndToolFinder,
): RelayError | null {
  const member = members.find(({ key, kind }) => kind !== 'null' && STORED.includes(key))
  if (member !== undefined) return relayError('stored_input', { param: member.key })
  if (itemWithProviderTool === null) return null
  return relayError('provider_tool_in_input', { param: `input[${itemWithProviderTool}].tools` })
}

/**
 * Returns the earlier responses and items to which the request refers. Returns an error if an id is
 * invalid or if there are too many references.
 */
function storedInput(
  body: Buffer,
  previous: Member | undefined,
  finder: ItemAndToolFinder,
): StoredInput | RelayError {
  const references: StoredReference[] = []
  if (previous !== undefined && previous.kind !== 'null') {
    const id = body.toString('latin1', previous.valueStart + 1, previous.valueEnd - 1)
    if (previous.kind !== 'string' || !STORED_ID.test(id)) {
      return invalidParameter(PREVIOUS)
    }
    references.push({ id, param: PREVIOUS })
  }
  for (const { item, id, span } of finder.references) {
    const param = `input[${item}]`
    const isTooMany = references.length >= REFERENCES_MAX
    if (id === null || isTooMany) return relayError('stored_input', { param })
    references.push({ id, param, span })
  }
  return { references, place: null, tokens: 0 }
}

/** Returns the error in `input`, or null if there is none. `input` is a text or a list of items. */
const errorInInput = (input: Member | undefined, finder: ItemAndToolFinder): RelayError | null =>
  input?.kind === 'string' ? null : errorInMessages(input, finder.ambiguity, 'input')

/**
 * Returns the reasoning effort, or null if the request has none. Returns an error if `reasoning` is
 * invalid.
 */
function readEffort(
  body: Buffer,
  member: Member | undefined,
  known: NamesByFoldedName,
): string | RelayError | null {
  if (member?.kind !== 'object') return null
  const bytes = body.subarray(member.valueStart, member.valueEnd)
  const options = scanObject(bytes, known === NO_NAMES ? NO_NAMES : REASONING)
  if (isMembers(options)) {
    const find = (name: string) => options.find(({ key }) => key === name)
    // The mode of `reasoning` is restricted only for callers. An admin's override may set any mode.
    const error = known === NO_NAMES ? null : errorInReasoningMode(bytes, find('mode'))
    return error ?? effortOf(bytes, find('effort'))
  }
  if (options.error !== 'ambiguous') return invalidParameter('reasoning')
  return ambiguousKey(`reasoning.${options.key}`, options.other)
}

const RULES: BodyRules = {
  limits: [LIMIT],
  addedLimit: () => LIMIT,
  isRestricted: (folded) =>
    folded !== LIMIT &&
    (isRestrictedMember(folded) || OUTPUT_LIMITS.includes(folded) || folded === 'access_programs'),
}

/**
 * Returns the overrides, without `background` if the response is not streamed. The answer to a
 * background request that is not streamed would arrive after the end of the call, and could not be
 * billed.
 */
function billableOverrides(
  { isStream }: Pick<ChatRequest, 'isStream'>,
  overrides: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  if (isStream || !overrides.has('background')) return overrides
  return new Map([...overrides].filter(([name]) => name !== 'background'))
}

/**
 * Returns an outline (a short form) of the request. It has the same model, limits and tools of the
 * provider, but a short input.
 */
function outlineOf({ model, isStream, outputTokensMax, toolLimits }: ChatRequest): ChatRequest {
  const limits = { max_output_tokens: outputTokensMax, ...outlinedTools(toolLimits) }
  const text = { model, stream: isStream, input: 'x', ...limits }
  return validOutline(readResponsesRequest(Buffer.from(JSON.stringify(text)), NO_NAMES))
}

const OUTPUT_TOKENS_MIN = 16

const shortBody: WireFormat['shortBody'] = ({ model, isStream }, outputTokens) => ({
  model,
  input: 'hi',
  max_output_tokens: Math.max(outputTokens, OUTPUT_TOKENS_MIN),
  ...(isStream ? { stream: true } : {}),
})

/** OpenAI's Responses API. */
export const OPENAI_RESPONSES: WireFormat = {
  name: 'responses',
  promptMember: 'input',
  readRequest: (body) => readResponsesRequest(body),
  readChangedRequest: (body) => readResponsesRequest(body, NO_NAMES),
  shortBody,
  outlineOf,
  upstreamBody: (request, change) => {
    const overrides = billableOverrides(request, change.overrides)
    return upstreamBody(request, { ...change, overrides, forcesUsage: false }, RULES)
  },
  passedHeaders,
  usageInAnswer,
  readUsage: readResponsesUsage,
  errorOfAnswer: errorOfResponse,
  redactedAnswer: redactedResponse,
  streamOfAnswer: streamOfResponse,
  readTexts: readResponseTexts,
  stream: RESPONSES_STREAM,
  errors: RESPONSES_ERRORS,
}
