import { type JsonObject, objectOf } from '#relay/canonical/json-values.ts'
import {
  type CanonicalRequest,
  ConversionError,
  type Converted,
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
  requiredText,
} from '../read-json-values-strictly.ts'
import { readMessages } from './read-messages.ts'
import {
  namesOfCustomTools,
  readAnswerFormat,
  readToolChoice,
  readTools,
} from './read-tools-and-answer-format.ts'
import { readThinking, THINKING_MEMBERS } from './thinking-control.ts'

const MEMBERS = new Set<string>([
  ...[
    'model',
    'messages',
    'system',
    'stream',
    'stream_options',
    'max_tokens',
    'max_completion_tokens',
  ],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'functions', 'function_call'],
  ...['n', 'temperature', 'top_p', 'top_k', 'seed', 'presence_penalty', 'frequency_penalty'],
  ...['stop', 'response_format', 'logprobs', 'top_logprobs', 'user', 'safety_identifier'],
  ...['prompt_cache_key', 'modalities', 'verbosity', 'metadata', 'prompt_cache_retention'],
  ...THINKING_MEMBERS,
])

/** Reads the body of `POST /v1/chat/completions`. */
export function readRequest(body: JsonObject): Converted<CanonicalRequest> {
  const losses: string[] = []
  addUnreadMembers(body, MEMBERS, '', losses)
  addFormLosses(body, losses)
  const { system, messages } = readMessages(body, losses)
  const { tools, choice } = readToolChoice(body, readTools(body, losses), losses)
  const value: CanonicalRequest = {
    model: requiredText(body.model, 'model'),
    isStream: optionalBoolean(body.stream, 'stream') ?? false,
    system,
    messages,
    tools,
    toolChoice: choice,
    allowsParallelCalls: allowsParallelCalls(body),
    outputTokensMax: readOutputLimit(body, losses),
    sampling: readSampling(body),
    thinking: readThinking(body, losses),
    answerFormat: readAnswerFormat(body, losses),
    logprobs: readLogprobs(body, losses),
    endUser: readEndUser(body),
    promptCacheKey: optionalText(body.prompt_cache_key, 'prompt_cache_key'),
    ...readOpenAiMembers(body, [body.verbosity, 'verbosity']),
  }
  return { value, losses }
}

/** The properties of a request that decide how its answer is written. */
export type AnswerSettings = {
  /** True if the caller requests the usage at the end of a stream. */
  readonly hasStreamUsage: boolean
  /** True if the caller knows only the older `function_call`, which allows one call per answer. */
  readonly usesFunctionCall: boolean
  /** The names of the caller's tools whose input is a text and not JSON. Omitted if none are. */
  readonly custom?: ReadonlySet<string>
}

/** Reads the properties of a request that decide how its answer is written. */
export function readAnswerSettings(body: JsonObject): AnswerSettings {
  const custom = namesOfCustomTools(body)
  return {
    hasStreamUsage: objectOf(body.stream_options)?.include_usage === true,
    usesFunctionCall: usesFunctionCall(body),
    ...(custom.size === 0 ? {} : { custom }),
  }
}

const usesFunctionCall = ({ functions, tools }: JsonObject): boolean =>
  !isAbsent(functions) && isAbsent(tools)

/** Reports unsupported stream options and answer modalities as lost. */
function addFormLosses(body: JsonObject, losses: string[]): void {
  const options = optionalObject(body.stream_options, 'stream_options')
  if (options !== null) {
    addUnreadMembers(options, new Set(['include_usage']), 'stream_options', losses)
  }
  const modalities = optionalList(body.modalities, 'modalities')
  if (modalities.some((modality) => modality !== 'text')) addLoss(losses, 'modalities')
}

/**
 * Reports whether the answer may contain several tool calls. Returns false if the caller knows only
 * the older `function_call`, because an answer can have only one. Otherwise, returns null if the
 * request has neither `parallel_tool_calls` nor Anthropic's `disable_parallel_tool_use`.
 */
function allowsParallelCalls(body: JsonObject): boolean | null {
  const isAllowed = optionalBoolean(body.parallel_tool_calls, 'parallel_tool_calls')
  if (usesFunctionCall(body)) return false
  const isSingle = optionalBoolean(
    objectOf(body.tool_choice)?.disable_parallel_tool_use,
    'tool_choice.disable_parallel_tool_use',
  )
  return isAllowed ?? (isSingle === null ? null : !isSingle)
}

/**
 * Reads the output limit. There is no limit if `max_completion_tokens` or the older `max_tokens` is
 * 0, as in chats that are not converted. If both are given and differ, `max_tokens` is reported as
 * lost.
 */
function readOutputLimit(body: JsonObject, losses: string[]): number | null {
  if ([body.max_tokens, body.max_completion_tokens].includes(0)) return null
  const older = readCount(body, 'max_tokens')
  const limit = readCount(body, 'max_completion_tokens')
  if (limit !== null && older !== null && older !== limit) addLoss(losses, 'max_tokens')
  return limit ?? older
}

function readCount(body: JsonObject, member: string): number | null {
  const count = optionalInteger(body[member], member)
  if (count === null || count >= 1) return count
  throw new ConversionError(member, 'A number of at least 1 is expected.')
}

function readSampling(body: JsonObject): Sampling {
  return {
    choices: readCount(body, 'n'),
    temperature: optionalNumber(body.temperature, 'temperature'),
    topP: optionalNumber(body.top_p, 'top_p'),
    topK: optionalInteger(body.top_k, 'top_k'),
    seed: optionalInteger(body.seed, 'seed'),
    presencePenalty: optionalNumber(body.presence_penalty, 'presence_penalty'),
    frequencyPenalty: optionalNumber(body.frequency_penalty, 'frequency_penalty'),
    stop: readStop(body.stop),
  }
}

function readStop(stop: unknown): readonly string[] {
  if (typeof stop === 'string') return [stop]
  return optionalList(stop, 'stop').map((text, at) => requiredText(text, `stop[${at}]`))
}

function readLogprobs(body: JsonObject, losses: string[]): number | null {
  const isRequested = optionalBoolean(body.logprobs, 'logprobs') ?? false
  const alternatives = optionalInteger(body.top_logprobs, 'top_logprobs')
  if (isRequested) return alternatives ?? 0
  if (alternatives !== null) addLoss(losses, 'top_logprobs')
  return null
}
