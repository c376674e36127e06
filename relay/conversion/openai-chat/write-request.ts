import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  AnswerFormat,
  CanonicalRequest,
  CanonicalTool,
  ContentPart,
  Converted,
  Sampling,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import {
  addLossesOfOpenAiMembers,
  cacheRetentionFor,
  NO_OPENAI_MEMBERS,
  verbosityFor,
} from '../members-of-openai-only.ts'
import { limitedKeyOrNull } from '../shorten-ids-and-keys.ts'
import { schemaName, withoutNulls, writeToolMembers } from '../write-openai-tool-members.ts'
import { type ChatExtensions, OPENAI } from './chat-extensions-of-provider.ts'
import { writeThinking } from './thinking-control.ts'
import { toolCacheMember, writeMessages } from './write-messages.ts'

/** Writes the body of `POST /v1/chat/completions` for a provider. */
export function writeRequest(
  request: CanonicalRequest,
  vendor: ChatExtensions = OPENAI,
): Converted<JsonObject> {
  const losses: string[] = []
  const messages = writeMessages(withWordJson(request), vendor, losses)
  const { members, acceptsSampling } = writeThinking(request, vendor, losses)
  const { sampling, logprobs } = acceptsSampling ? request : withoutSampling(request, losses)
  const value = withoutNulls({
    model: request.model,
    messages,
    ...streamMembers(request, vendor),
    [vendor.outputLimit]: request.outputTokensMax,
    ...writeTools(request, vendor, losses),
    ...writeSampling(sampling, vendor, losses),
    ...members,
    response_format: writeAnswerFormat(request.answerFormat),
    ...writeLogprobs(logprobs),
    user: limitedKeyOrNull(request.endUser),
    ...writeCacheKey(request.promptCacheKey, vendor, losses),
    ...writeNewerMembers(request, vendor, losses),
  })
  return { value, losses }
}

function streamMembers({ isStream }: CanonicalRequest, vendor: ChatExtensions): JsonObject {
  if (!isStream) return {}
  return { stream: true, ...(vendor.hasStreamOptions ? INCLUDE_USAGE : {}) }
}

const INCLUDE_USAGE = { stream_options: { include_usage: true } }

const writeTools = (
  request: CanonicalRequest,
  vendor: ChatExtensions,
  losses: string[],
): JsonObject =>
  writeToolMembers(
    request,
    {
      writeTool: (tool, path) => writeTool(tool, path, vendor, losses),
      writeChoice: (name) => ({ type: 'function', function: { name } }),
    },
    losses,
  )

function writeTool(
  { name, description, schema, isStrict, cache }: CanonicalTool,
  path: string,
  vendor: ChatExtensions,
  losses: string[],
): JsonObject {
  const definition = {
    name,
    ...(description === '' ? {} : { description }),
    parameters: schema,
    ...(isStrict === null ? {} : { strict: isStrict }),
  }
  const mark = toolCacheMember(cache, path, vendor, losses)
  return { type: 'function', function: definition, ...mark }
}

/**
 * Leaves out the members that OpenAI's models refuse while they reason
 * (learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning). The omission of a default value
 * is not a loss.
 */
function withoutSampling(
  { sampling, logprobs }: CanonicalRequest,
  losses: string[],
): Pick<CanonicalRequest, 'sampling' | 'logprobs'> {
  for (const [name, usual] of Object.entries(USUAL_SAMPLING)) {
    const value = sampling[name as keyof typeof USUAL_SAMPLING]
    if (value !== null && value !== usual) addLoss(losses, `sampling.${name}`)
  }
  if (sampling.stop.length > 0) addLoss(losses, 'sampling.stop')
  if (logprobs !== null) addLoss(losses, 'logprobs')
  const left = { temperature: null, topP: null, presencePenalty: null, frequencyPenalty: null }
  return { sampling: { ...sampling, ...left, stop: [] }, logprobs: null }
}

const USUAL_SAMPLING = { temperature: 1, topP: 1, presencePenalty: 0, frequencyPenalty: 0 }

/** The maximum number of stop sequences that OpenAI accepts. */
const STOP_SEQUENCES_MAX = 4

function writeSampling(sampling: Sampling, vendor: ChatExtensions, losses: string[]): JsonObject {
  const { stop, topK } = sampling
  if (topK !== null && !vendor.hasTopK) addLoss(losses, 'sampling.topK')
  for (let at = STOP_SEQUENCES_MAX; at < stop.length; at += 1)
    addLoss(losses, `sampling.stop[${at}]`)
  return {
    n: sampling.choices,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: vendor.hasTopK ? topK : null,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    stop: stop.length === 0 ? null : stop.slice(0, STOP_SEQUENCES_MAX),
  }
}

function writeAnswerFormat(format: AnswerFormat | null): JsonObject | null {
  if (format === null) return null
  if (format.kind === 'json') return { type: 'json_object' }
  const { name, schema, isStrict } = format
  const strict = isStrict === null ? {} : { strict: isStrict }
  return {
    type: 'json_schema',
    json_schema: { name: schemaName(name), schema, ...strict },
  }
}

function writeLogprobs(alternatives: number | null): JsonObject {
  if (alternatives === null) return {}
  return { logprobs: true, top_logprobs: alternatives === 0 ? null : alternatives }
}

function writeCacheKey(key: string | null, vendor: ChatExtensions, losses: string[]): JsonObject {
  if (key !== null && !vendor.hasPromptCacheKey) addLoss(losses, 'promptCacheKey')
  return { prompt_cache_key: vendor.hasPromptCacheKey ? limitedKeyOrNull(key) : null }
}

/**
 * Writes those of OpenAI's newer members that the provider accepts. The metadata is left out,
 * because OpenAI refuses it for a chat that it does not store.
 */
function writeNewerMembers(
  request: CanonicalRequest,
  { hasNewerMembers, openAiModel = request.model }: ChatExtensions,
  losses: string[],
): JsonObject {
  if (!hasNewerMembers) {
    addLossesOfOpenAiMembers(request, losses)
    return {}
  }
  const { openAi = NO_OPENAI_MEMBERS } = request
  addLossesOfOpenAiMembers(request, losses, ['metadata'])
  return {
    verbosity: verbosityFor(openAi, openAiModel, losses),
    prompt_cache_retention: cacheRetentionFor(openAi, openAiModel, losses),
    safety_identifier: limitedKeyOrNull(openAi.safetyIdentifier),
  }
}

/**
 * If a request for a JSON answer does not contain the word JSON, adds an instruction with this
 * word. OpenAI, Qwen and DeepSeek would otherwise reject the request.
 */
function withWordJson(request: CanonicalRequest): CanonicalRequest {
  if (request.answerFormat?.kind !== 'json') return request
  const parts = [...request.system, ...request.messages.flatMap((message) => message.parts)]
  if (parts.some(mentionsJson)) return request
  return { ...request, system: [...request.system, { kind: 'text', text: 'Answer in JSON.' }] }
}

function mentionsJson(part: ContentPart): boolean {
  if (part.kind === 'tool-result') return part.parts.some(mentionsJson)
  return part.kind === 'text' && /json/i.test(part.text)
}
