import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { CanonicalRequest, Converted } from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { addLossesOfOpenAiMembers } from '../members-of-openai-only.ts'
import { schemaCopiesOf } from './count-copied-schema-bytes.ts'
import { isGemini3 } from './model-version.ts'
import type { SchemaCopies } from './schema-copies.ts'
import { writeThinkingConfig } from './thinking-config.ts'
import { writeContents } from './write-contents.ts'
import { toGeminiSchema } from './write-gemini-schema.ts'

const STOP_SEQUENCES_MAX = 5
const SEED_MAX = 2 ** 31 - 1
const LOGPROBS_MAX = 20

/**
 * Writes the body of `generateContent`. The path of the URL names the model and decides whether the
 * answer is a stream. `requestBody` is the caller's request, whose length limits what references in
 * schemas may add.
 */
export function writeRequest(
  request: CanonicalRequest,
  requestBody: Buffer,
): Converted<JsonObject> {
  const losses: string[] = []
  const copies = schemaCopiesOf(requestBody)
  const { systemInstruction, contents } = writeContents(request, losses)
  const tools = writeTools(request, copies, losses)
  const toolConfig = writeToolConfig(request, losses)
  const generationConfig = writeGenerationConfig(request, copies, losses)
  if (request.allowsParallelCalls === false && tools.length > 0)
    addLoss(losses, 'allowsParallelCalls')
  if (request.endUser !== null) addLoss(losses, 'endUser')
  if (request.promptCacheKey !== null) addLoss(losses, 'promptCacheKey')
  addLossesOfOpenAiMembers(request, losses)
  const value = {
    contents,
    ...(systemInstruction !== null && { systemInstruction }),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools }] }),
    ...(toolConfig !== null && { toolConfig }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  }
  return { value, losses }
}

/** The maximum length of a tool's name in an error. */
const NAME_LENGTH_MAX = 64

function writeTools(
  { tools }: CanonicalRequest,
  copies: SchemaCopies,
  losses: string[],
): readonly JsonObject[] {
  return tools.map(({ name, description, schema, isStrict, cache }, index) => {
    if (cache !== undefined) addLoss(losses, `tools[${index}].cache`)
    if (isStrict === true) addLoss(losses, `tools[${index}].isStrict`)
    const path = `tools[${index}].schema`
    const label = `${path} (${name.slice(0, NAME_LENGTH_MAX)})`
    const written = toGeminiSchema(schema, path, copies, label)
    for (const loss of written.losses) addLoss(losses, loss)
    // Gemini refuses `parameters` without properties.
    const hasParameters =
      written.value.properties !== undefined || written.value.anyOf !== undefined
    return {
      name,
      ...(description !== '' && { description }),
      ...(hasParameters && { parameters: written.value }),
    }
  })
}

/** Writes the tool choice. Gemini refuses a tool choice if there are no functions. */
function writeToolConfig(
  { toolChoice, tools }: CanonicalRequest,
  losses: string[],
): JsonObject | null {
  if (toolChoice === null) return null
  if (tools.length === 0) {
    if (toolChoice.kind === 'required' || toolChoice.kind === 'tool') addLoss(losses, 'toolChoice')
    return null
  }
  const functionCallingConfig =
    toolChoice.kind === 'tool'
      ? { mode: 'ANY', allowedFunctionNames: [toolChoice.name] }
      : { mode: MODES[toolChoice.kind] }
  return { functionCallingConfig }
}

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY' }

function writeGenerationConfig(
  request: CanonicalRequest,
  copies: SchemaCopies,
  losses: string[],
): JsonObject {
  const { sampling, outputTokensMax } = request
  const thinking = writeThinkingConfig(request.thinking, request.model)
  losses.push(...thinking.losses)
  const stopSequences = sampling.stop.slice(0, STOP_SEQUENCES_MAX)
  if (stopSequences.length < sampling.stop.length) addLoss(losses, 'sampling.stop')
  const isSeedValid = sampling.seed === null || Math.abs(sampling.seed) <= SEED_MAX
  if (!isSeedValid) addLoss(losses, 'sampling.seed')
  const members = {
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    seed: isSeedValid ? sampling.seed : null,
    candidateCount: sampling.choices,
    maxOutputTokens: outputTokensMax,
    stopSequences: stopSequences.length > 0 ? stopSequences : null,
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    thinkingConfig: thinking.value,
    ...writeLogprobsCount(request, losses),
    ...writeAnswerFormat(request, copies, losses),
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

function writeLogprobsCount({ logprobs }: CanonicalRequest, losses: string[]): JsonObject {
  if (logprobs === null) return {}
  if (logprobs > LOGPROBS_MAX) addLoss(losses, 'logprobs')
  if (logprobs === 0) return { responseLogprobs: true }
  return { responseLogprobs: true, logprobs: Math.min(logprobs, LOGPROBS_MAX) }
}

/**
 * Writes the format of the answer. Models before Gemini 3 refuse functions together with a JSON
 * answer.
 */
function writeAnswerFormat(
  request: CanonicalRequest,
  copies: SchemaCopies,
  losses: string[],
): JsonObject {
  const { answerFormat, model, tools } = request
  if (answerFormat === null) return {}
  if (tools.length > 0 && !isGemini3(model)) {
    addLoss(losses, 'answerFormat')
    return {}
  }
  const responseMimeType = 'application/json'
  if (answerFormat.kind === 'json') return { responseMimeType }
  const schema = toGeminiSchema(answerFormat.schema, 'answerFormat.schema', copies)
  for (const loss of schema.losses) addLoss(losses, loss)
  return { responseMimeType, responseSchema: schema.value }
}
