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
  acceptedMetadata,
  addLossesOfOpenAiMembers,
  cacheRetentionFor,
  NO_OPENAI_MEMBERS,
  verbosityFor,
} from '../members-of-openai-only.ts'
import { type ChatExtensions, OPENAI } from '../openai-chat/chat-extensions-of-provider.ts'
import { limitedKey, limitedKeyOrNull } from '../shorten-ids-and-keys.ts'
import { schemaName, withoutNulls, writeToolMembers } from '../write-openai-tool-members.ts'
import { writeReasoning } from './reasoning-control.ts'
import { developerMessage, type WrittenInput, writeInput } from './write-input.ts'

/**
 * Writes the body of `POST /v1/responses` for a provider. The request asks the provider not to
 * store the answer, and to return the encrypted reasoning if the model reasons. The caller sends
 * this reasoning back with the next request.
 */
export function writeRequest(
  request: CanonicalRequest,
  vendor: Vendor = OPENAI,
): Converted<JsonObject> {
  const { openAiModel = request.model } = vendor
  const losses: string[] = []
  const { instructions, input } = withWordJson(request, writeInput(request, losses))
  const { thinking, model } = request
  const reasoning = writeReasoning(thinking, openAiModel, losses)
  const { sampling, logprobs } = reasoning.acceptsSampling
    ? request
    : withoutSampling(request, losses)
  const include = [
    ...(reasoning.hasEncryptedContent ? ['reasoning.encrypted_content'] : []),
    ...(logprobs === null ? [] : ['message.output_text.logprobs']),
  ]
  const value = withoutNulls({
    model,
    instructions,
    input,
    stream: request.isStream ? true : null,
    store: false,
    max_output_tokens: writeOutputLimit(request.outputTokensMax, losses),
    ...writeTools(request, losses),
    ...writeSampling(sampling, losses),
    reasoning: reasoning.reasoning,
    text: writeText(request, openAiModel, losses),
    include: include.length === 0 ? null : include,
    top_logprobs: logprobs === 0 ? null : logprobs,
    ...writeUsers(request),
    prompt_cache_key: limitedKeyOrNull(request.promptCacheKey),
    ...writeNewerMembers(request, openAiModel, vendor, losses),
  })
  return { value, losses }
}

type Vendor = Pick<ChatExtensions, 'hasNewerMembers' | 'hasOpenAiModels' | 'openAiModel'>

/**
 * Writes the metadata and the retention of the cache if the provider serves OpenAI's models or
 * accepts their newer members. Other providers of this format may refuse them.
 */
function writeNewerMembers(
  request: CanonicalRequest,
  openAiModel: string,
  { hasNewerMembers, hasOpenAiModels }: Vendor,
  losses: string[],
): JsonObject {
  if (!hasNewerMembers && !hasOpenAiModels) {
    addLossesOfOpenAiMembers(request, losses, ['metadata', 'promptCacheRetention'])
    return {}
  }
  const { openAi = NO_OPENAI_MEMBERS } = request
  return {
    metadata: acceptedMetadata(openAi, losses),
    prompt_cache_retention: cacheRetentionFor(openAi, openAiModel, losses),
  }
}

/** The smallest output limit in tokens that OpenAI accepts. */
const OUTPUT_LIMIT_MIN = 16

function writeOutputLimit(limit: number | null, losses: string[]): number | null {
  if (limit === null || limit >= OUTPUT_LIMIT_MIN) return limit
  addLoss(losses, 'outputTokensMax')
  return OUTPUT_LIMIT_MIN
}

const writeTools = (request: CanonicalRequest, losses: string[]): JsonObject =>
  writeToolMembers(
    request,
    {
      writeTool: (tool, path) => writeTool(tool, path, losses),
      writeChoice: (name) => ({ type: 'function', name }),
    },
    losses,
  )

/**
 * Writes a function. `strict` is always written, because OpenAI would otherwise change the schema
 * to a strict one.
 */
function writeTool(
  { name, description, schema, isStrict, cache }: CanonicalTool,
  path: string,
  losses: string[],
): JsonObject {
  if (cache !== undefined) addLoss(losses, `${path}.cache`)
  return {
    type: 'function',
    name,
    ...(description === '' ? {} : { description }),
    parameters: writeSchema(schema),
    strict: isStrict ?? false,
  }
}

/**
 * Returns a schema that OpenAI accepts. OpenAI requires that a schema describes an object and has
 * the member `properties`.
 */
const writeSchema = (schema: JsonObject): JsonObject => ({
  ...schema,
  type: 'object',
  properties: schema.properties ?? {},
})

/**
 * OpenAI's default for `temperature` and `top_p`. A member with this value is omitted, because
 * models that reason reject it with any value.
 */
const DEFAULT_SAMPLING = 1

function writeSampling(sampling: Sampling, losses: string[]): JsonObject {
  const { choices, temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = sampling
  if (choices !== null && choices > 1) addLoss(losses, 'sampling.choices')
  const others = { topK, seed, presencePenalty, frequencyPenalty }
  for (const [name, value] of Object.entries(others)) {
    if (value !== null) addLoss(losses, `sampling.${name}`)
  }
  if (sampling.stop.length > 0) addLoss(losses, 'sampling.stop')
  return {
    temperature: temperature === DEFAULT_SAMPLING ? null : temperature,
    top_p: topP === DEFAULT_SAMPLING ? null : topP,
  }
}

/** Leaves out the members that OpenAI's models reject while they reason. */
function withoutSampling(
  { sampling, logprobs }: CanonicalRequest,
  losses: string[],
): Pick<CanonicalRequest, 'sampling' | 'logprobs'> {
  for (const name of ['temperature', 'topP'] as const) {
    const value = sampling[name]
    if (value !== null && value !== DEFAULT_SAMPLING) addLoss(losses, `sampling.${name}`)
  }
  if (logprobs !== null) addLoss(losses, 'logprobs')
  return { sampling: { ...sampling, temperature: null, topP: null }, logprobs: null }
}

/**
 * Writes the identifier of the end user, which OpenAI's newer member `safety_identifier` contains
 * unless the request has another identifier for this member.
 */
function writeUsers({ endUser, openAi = NO_OPENAI_MEMBERS }: CanonicalRequest): JsonObject {
  if (endUser === null) return {}
  const { safetyIdentifier } = openAi
  return safetyIdentifier === null
    ? { safety_identifier: limitedKey(endUser) }
    : { user: limitedKey(endUser), safety_identifier: limitedKey(safetyIdentifier) }
}

function writeText(
  { answerFormat, openAi = NO_OPENAI_MEMBERS }: CanonicalRequest,
  openAiModel: string,
  losses: string[],
): JsonObject | null {
  const format = answerFormat === null ? null : writeTextFormat(answerFormat)
  const text = withoutNulls({ format, verbosity: verbosityFor(openAi, openAiModel, losses) })
  return Object.keys(text).length === 0 ? null : text
}

function writeTextFormat(format: AnswerFormat): JsonObject {
  if (format.kind === 'json') return { type: 'json_object' }
  const { name, schema, isStrict } = format
  const strict = isStrict === null ? {} : { strict: isStrict }
  return { type: 'json_schema', name: schemaName(name), schema, ...strict }
}

/**
 * If the input items of a request for a JSON answer don't contain the word JSON, adds an
 * instruction with this word. OpenAI would otherwise reject the request, because it does not search
 * the instructions for the word.
 */
function withWordJson(request: CanonicalRequest, written: WrittenInput): WrittenInput {
  if (request.answerFormat?.kind !== 'json') return written
  if (request.messages.some(({ parts }) => parts.some(mentionsJson))) return written
  const instruction = developerMessage([{ type: 'input_text', text: 'Answer in JSON.' }])
  return { ...written, input: [instruction, ...written.input] }
}

const mentionsJson = (part: ContentPart): boolean => part.kind === 'text' && /json/i.test(part.text)
