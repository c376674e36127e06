import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { readOpenAiUsage } from '#relay/canonical/read-openai-usage-for-billing.ts'
import {
  invalidParameter,
  isRelayError,
  missingParameter,
  notOneOf,
  type RelayError,
  relayError,
} from '#relay/canonical/relay-error.ts'
import { answerListCheck } from '../check-successful-answer.ts'
import {
  countInputs,
  type Inputs,
} from '../embeddings-rerank-moderations/count-and-bound-inputs.ts'
import { wantsUsageOf } from '../openai-chat/chat-format.ts'
import { OPENAI_ERRORS } from '../openai-chat/error-format.ts'
import { errorInChoices } from '../openai-chat/error-of-failed-choice.ts'
import {
  CHAT_NAMES,
  MessagePartAndToolFinder,
} from '../openai-chat/find-message-parts-and-tools.ts'
import { inputBoundOf } from '../openai-chat/input-token-bound.ts'
import { readChatTexts } from '../openai-chat/read-chat-texts.ts'
import { OPENAI_STREAM } from '../openai-chat/stream-events.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { usageInAnswer } from '../openai-chat/usage-in-answer.ts'
import {
  errorInKinds,
  flagOf,
  integerOf,
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
  type UpstreamChange,
  type WireFormat,
} from '../wire-format.ts'

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
 * Members of other formats. They are refused, because providers may read them as an additional
 * prompt or as another output limit.
 */
const REFUSED = ['messages', 'input', 'prompt_embeds', 'max_completion_tokens']
const NAMES = namesByFoldedName([
  ...['model', 'prompt', 'stream', 'stream_options', 'echo', ...COUNTS],
  ...[...NUMBERS, ...FIELDS.keys(), ...REFUSED],
])
const NO_NAMES = namesByFoldedName([])

/**
 * The output limit in tokens of a request without a limit. This limit is sent to the provider,
 * because some servers have no default.
 */
const DEFAULT_OUTPUT_TOKENS = 16
/** The maximum number of completions in total over all prompts. */
const CHOICES_MAX = 128

const MEMBER_RULES: MemberRules = { kinds: FIELDS, numbers: NUMBERS, lists: new Map() }

const isRefused = ({ key, kind }: Member): boolean => kind !== 'null' && REFUSED.includes(key)

/**
 * Reads a request of OpenAI's legacy completions API without parsing it into objects. Each prompt
 * gets `n` completions. With `best_of`, the provider generates more completions and selects `n` of
 * them. Member names that resemble a name in `known` are refused. `known` is empty if a checked
 * request is read again after a change.
 */
function readCompletionRequest(body: Buffer, known = NAMES): ChatRequest | RelayError {
  const request = membersAndModel(body, scanObject(body, known))
  if (isRelayError(request)) return request
  const { members, model, find } = request
  const prompts = promptsOf(body, find('prompt'))
  if (isRelayError(prompts)) return prompts
  const refused = members.find(isRefused)
  if (refused !== undefined) return relayError('parameter_not_supported', { param: refused.key })
  const kindError = errorInKinds(body, members, MEMBER_RULES)
  if (kindError !== null) return kindError
  const isStream = flagOf(find('stream'))
  if (isStream === null) return notFlag('stream')
  const isEchoed = flagOf(find('echo'))
  if (isEchoed === null) return notFlag('echo')
  const wantsUsage = wantsUsageOf(body, find('stream_options'))
  if (typeof wantsUsage !== 'boolean') return wantsUsage
  const counts = countsOf(body, find, prompts.count)
  if (isRelayError(counts)) return counts
  // With `echo`, the text of each prompt is delivered as a part of its completion.
  const echoed = isEchoed ? Math.ceil(body.length / prompts.count) : 0
  const bound = inputBoundOf(body, members, new MessagePartAndToolFinder(body, CHAT_NAMES))
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
    inputBound: { ...bound, isText: bound.isText && prompts.tokens === null },
    tools: [],
  }
}

/**
 * Counts the prompts of a request: one text, a list of texts, the token numbers of one prompt, or a
 * list of such lists. Mixed lists are refused, because the number of prompts would be unclear.
 */
function promptsOf(body: Buffer, member: Member | undefined): Inputs | RelayError {
  if (member === undefined || member.kind === 'null') {
    return missingParameter('prompt')
  }
  const prompts = countInputs(body, member)
  return prompts === null || prompts.objects > 0
    ? notOneOf('prompt', ['"…"', '["…"]', '[1, 2]', '[[1, 2]]'])
    : prompts
}

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
  const outputTokens = integerOf(body, find('max_tokens'), 1, OUTPUT_TOKENS_MAX)
  if (outputTokens === undefined) return outOfRange('max_tokens', 1, OUTPUT_TOKENS_MAX)
  const returned = integerOf(body, find('n'), 1, CHOICES_MAX)
  if (returned === undefined) return outOfRange('n', 1, CHOICES_MAX)
  const generated = integerOf(body, find('best_of'), 1, CHOICES_MAX)
  if (generated === undefined) return outOfRange('best_of', 1, CHOICES_MAX)
  const perPrompt = Math.max(returned ?? 1, generated ?? 1)
  if (perPrompt * prompts > CHOICES_MAX) return invalidParameter(prompts > 1 ? 'prompt' : 'n')
  return {
    choices: perPrompt * prompts,
    returned: (returned ?? 1) * prompts,
    outputTokens: outputTokens ?? DEFAULT_OUTPUT_TOKENS,
  }
}

/**
 * Returns an outline (a short form) of the request. It has the same limits and number of
 * completions, but only short prompts and no `echo`.
 */
function outlineOf({ body, members, model, isStream }: ChatRequest): ChatRequest {
  const find = (key: string) => members.find((member) => member.key === key)
  const prompts = promptsOf(body, find('prompt'))
  const count = isRelayError(prompts) ? 1 : prompts.count
  const limits = COUNTS.flatMap((key) => {
    const value = integerOf(body, find(key), 1, OUTPUT_TOKENS_MAX)
    return typeof value === 'number' ? [[key, value]] : []
  })
  const prompt = Array.from({ length: count }, () => 'x')
  const text = { model, stream: isStream, prompt, ...Object.fromEntries(limits) }
  return validOutline(readCompletionRequest(Buffer.from(JSON.stringify(text)), NO_NAMES))
}

/**
 * Returns the change with the default output limit, if neither the request nor an override has a
 * limit.
 */
function withLimit({ body, members }: ChatRequest, change: UpstreamChange): UpstreamChange {
  const sent = members.find(({ key }) => key === 'max_tokens')
  const hasLimit = typeof integerOf(body, sent, 1, OUTPUT_TOKENS_MAX) === 'number'
  if (hasLimit || change.overrides.has('max_tokens')) return change
  const overrides = new Map([...change.overrides, ['max_tokens', `${DEFAULT_OUTPUT_TOKENS}`]])
  return { ...change, overrides }
}

/** OpenAI's legacy completions API. Self-hosted servers offer it for base models. */
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
  errorOfAnswer: answerListCheck({
    ...{ list: 'choices', usageIn: usageInAnswer, errorOfFailed: errorInChoices },
  }),
  errorOfFailedAnswer: errorInChoices,
  // In this format, a stream chunk has the same members as a complete answer.
  streamOfAnswer: (body) =>
    `data: ${body.toString('utf8').replace(/[\r\n]+/g, ' ')}\n\ndata: [DONE]\n\n`,
  readTexts: readChatTexts,
  stream: OPENAI_STREAM,
  errors: OPENAI_ERRORS,
}
