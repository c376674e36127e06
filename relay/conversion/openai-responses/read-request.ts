import { type JsonObject, objectOf } from '#relay/canonical/json-values.ts'
import {
  type AnswerFormat,
  type CanonicalRequest,
  ConversionError,
  type Converted,
  InexpressibleMemberError,
  type Sampling,
} from '../../canonical/canonical-request.ts'
import { addLoss, addUnreadMembers } from '../collect-losses.ts'
import { readEndUser, readOpenAiMembers } from '../members-of-openai-only.ts'
import {
  isAbsent,
  optionalBoolean,
  optionalInteger,
  optionalList,
  optionalNumber,
  optionalObject,
  optionalText,
  requiredObject,
  requiredText,
} from '../read-json-values-strictly.ts'
import {
  type CallerTools,
  findCallerTools,
  readToolChoice,
  readTools,
} from './convert-caller-tools-to-functions.ts'
import { readInput } from './read-input.ts'
import { readContent } from './read-request-content.ts'
import { readReasoning } from './reasoning-control.ts'

const MEMBERS = new Set<string>([
  ...['model', 'input', 'instructions', 'stream', 'stream_options', 'max_output_tokens'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'temperature', 'top_p', 'text', 'reasoning'],
  ...['include', 'top_logprobs', 'user', 'safety_identifier', 'prompt_cache_key'],
  ...['metadata', 'prompt_cache_retention'],
  ...['store', 'background', 'truncation', 'service_tier'],
  ...['previous_response_id', 'conversation', 'prompt'],
])

/**
 * The stream options that are dropped without a loss. Obfuscation only changes the lengths of
 * events, and converted streams never have it.
 */
const STREAM_OPTIONS = new Set(['include_obfuscation'])

/** Reads the body of `POST /v1/responses`. */
export function readRequest(body: JsonObject): Converted<CanonicalRequest> {
  checkStatelessness(body)
  const losses: string[] = []
  addUnreadMembers(body, MEMBERS, '', losses)
  addDefaultLosses(body, losses)
  const streamOptions = optionalObject(body.stream_options, 'stream_options') ?? {}
  addUnreadMembers(streamOptions, STREAM_OPTIONS, 'stream_options', losses)
  const { system, messages } = readInput(body.input, losses)
  const { tools, choice } = readToolChoice(body, readTools(body, losses), losses)
  const value: CanonicalRequest = {
    model: requiredText(body.model, 'model'),
    isStream: optionalBoolean(body.stream, 'stream') ?? false,
    system: [...readContent(body.instructions, 'instructions', losses), ...system],
    messages,
    tools,
    toolChoice: choice,
    allowsParallelCalls: optionalBoolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    outputTokensMax: readOutputLimit(body),
    sampling: readSampling(body),
    thinking: readReasoning(body.reasoning, losses),
    answerFormat: readTextFormat(body, losses),
    logprobs: readLogprobs(body, losses),
    endUser: readEndUser(body),
    promptCacheKey: optionalText(body.prompt_cache_key, 'prompt_cache_key'),
    ...readOpenAiMembers(body, [objectOf(body.text)?.verbosity, 'text.verbosity']),
  }
  return { value, losses }
}

/** The properties of a request that decide how its answer is written. */
export type AnswerSettings = CallerTools & {
  /** The members of the request that the answer must repeat. */
  readonly repeated: JsonObject
}

const REPEATED = [
  ...['max_output_tokens', 'metadata', 'parallel_tool_calls', 'prompt_cache_key', 'reasoning'],
  ...['safety_identifier', 'temperature', 'text', 'tool_choice', 'top_p', 'truncation'],
  ...['user'],
]

/**
 * Members that the answer repeats if their JSON has at most `SHORT_LENGTH_MAX` characters. A stream
 * contains them three times, so long ones are left out.
 */
const REPEATED_IF_SHORT = ['instructions', 'tools']
const SHORT_LENGTH_MAX = 4_096

/** Reads the properties of a valid request that decide how its answer is written. */
export function readAnswerSettings(body: JsonObject): AnswerSettings {
  const repeated = REPEATED.filter((name) => Object.hasOwn(body, name) && !isAbsent(body[name]))
  const short = REPEATED_IF_SHORT.filter((name) => isShort(body[name]))
  return {
    ...findCallerTools(body),
    repeated: Object.fromEntries([...repeated, ...short].map((name) => [name, body[name]])),
  }
}

function isShort(value: unknown): boolean {
  if (isAbsent(value) || (typeof value === 'string' && value.length > SHORT_LENGTH_MAX)) {
    return false
  }
  return JSON.stringify(value).length <= SHORT_LENGTH_MAX
}

/**
 * Throws a `ConversionError` if a request needs content that only the provider of earlier requests
 * has stored.
 */
function checkStatelessness(body: JsonObject): void {
  for (const name of ['previous_response_id', 'conversation', 'prompt']) {
    if (isAbsent(body[name])) continue
    throw new InexpressibleMemberError(name, 'The model’s provider does not store this content.')
  }
}

/**
 * Members with their default values. A member with its default value can be omitted, so the
 * omission is not a loss.
 */
const DEFAULTS: ReadonlyMap<string, ReadonlySet<unknown>> = new Map<string, Set<unknown>>([
  ['background', new Set([false])],
  ['truncation', new Set(['disabled'])],
  ['service_tier', new Set(['auto', 'default'])],
])

function addDefaultLosses(body: JsonObject, losses: string[]): void {
  for (const [name, defaults] of DEFAULTS) {
    if (!isAbsent(body[name]) && !defaults.has(body[name])) addLoss(losses, name)
  }
}

function readOutputLimit(body: JsonObject): number | null {
  const limit = optionalInteger(body.max_output_tokens, 'max_output_tokens')
  if (limit === null || limit > 0) return limit
  throw new ConversionError('max_output_tokens', 'A positive integer is expected.')
}

/** Reads `temperature` and `top_p`, the only sampling parameters of the Responses API. */
const readSampling = (body: JsonObject): Sampling => ({
  choices: null,
  temperature: optionalNumber(body.temperature, 'temperature'),
  topP: optionalNumber(body.top_p, 'top_p'),
  topK: null,
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  stop: [],
})

function readTextFormat(body: JsonObject, losses: string[]): AnswerFormat | null {
  const text = optionalObject(body.text, 'text')
  if (text === null) return null
  addUnreadMembers(text, new Set(['format', 'verbosity']), 'text', losses)
  const format = optionalObject(text.format, 'text.format')
  if (format === null || format.type === 'text') return null
  if (format.type === 'json_object') return { kind: 'json' }
  if (format.type !== 'json_schema') {
    throw new ConversionError('text.format.type', 'The format is unknown.')
  }
  const members = new Set(['type', 'name', 'schema', 'strict'])
  addUnreadMembers(format, members, 'text.format', losses)
  return {
    kind: 'schema',
    name: optionalText(format.name, 'text.format.name') ?? 'answer',
    schema: requiredObject(format.schema, 'text.format.schema'),
    isStrict: optionalBoolean(format.strict, 'text.format.strict'),
  }
}

const LOGPROBS = 'message.output_text.logprobs'
const ENCRYPTED = 'reasoning.encrypted_content'

/**
 * Returns the number of alternatives per token if `include` requests log probabilities. Otherwise,
 * returns null. A request for encrypted reasoning in `include` is not a loss, because answers
 * always contain the encrypted reasoning that the provider sends.
 */
function readLogprobs(body: JsonObject, losses: string[]): number | null {
  const include = optionalList(body.include, 'include')
  for (const [at, name] of include.entries()) {
    if (name !== LOGPROBS && name !== ENCRYPTED) addLoss(losses, `include[${at}]`)
  }
  const alternatives = optionalInteger(body.top_logprobs, 'top_logprobs')
  if (include.includes(LOGPROBS)) return alternatives ?? 0
  if (alternatives !== null && alternatives !== 0) addLoss(losses, 'top_logprobs')
  return null
}
