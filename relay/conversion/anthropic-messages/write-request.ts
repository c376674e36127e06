import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { CanonicalRequest, Converted, Sampling } from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { addLossesOfOpenAiMembers } from '../members-of-openai-only.ts'
import { limitedKey } from '../shorten-ids-and-keys.ts'
import { modelRules } from './members-accepted-by-model.ts'
import { toStructuredOutputSchema } from './structured-output-schema.ts'
import { writeConversation } from './write-conversation.ts'
import { RequestWriting, simplifiedContent, writeTool } from './write-parts.ts'
import { type WrittenThinking, writeSampling, writeThinking } from './write-thinking.ts'
import type { Block } from './write-tool-input.ts'

/** The maximum length of an end user's identifier that Anthropic accepts. */
const USER_ID_LENGTH_MAX = 256

type OutputLimits = {
  /** The output limit in tokens for a request without a limit. The format requires a limit. */
  readonly default: number
  /** The highest output limit that is written. Null for no maximum. */
  readonly max: number | null
}

/**
 * Writes the body of `POST /v1/messages`. A thinking budget is kept below the output limit that is
 * written. The name of the answer's schema is omitted. This is not reported as lost, because the
 * name has no effect. Source: the API reference "Messages" on platform.claude.com, and the types in
 * Anthropic's SDK.
 */
export function writeRequest(
  request: CanonicalRequest,
  limits: OutputLimits,
): Converted<JsonObject> {
  const writing = new RequestWriting()
  const { losses } = writing
  const rules = modelRules(request.model)
  const outputTokensMax = Math.min(
    request.outputTokensMax ?? limits.default,
    limits.max ?? Number.POSITIVE_INFINITY,
  )
  const tools = request.tools.map((tool, index) => writeTool(tool, `tools[${index}]`, writing))
  const conversation = writeConversation(request, rules.acceptsSystemMessages, writing)
  const { lacksThinkingBeforeCalls } = conversation
  const thinking = writeThinking(request, {
    rules,
    outputTokensMax,
    lacksThinkingBeforeCalls,
    losses,
  })
  const isThinking = thinking.thinking !== null && thinking.thinking.type !== 'disabled'
  writing.limitMarks()
  const { system, messages } = conversation
  const value: Block = {
    model: request.model,
    max_tokens: outputTokensMax,
    ...(system.length > 0 && { system: simplifiedContent(system) }),
    messages,
    ...(tools.length > 0 && { tools }),
    ...writeToolChoice(request, losses),
    ...writeSampling(request.sampling, { rules, isThinking }, losses),
    ...writeStop(request.sampling, losses),
    ...(thinking.thinking !== null && { thinking: thinking.thinking }),
    ...writeOutputConfig(request, thinking, losses),
    ...(request.endUser !== null && {
      metadata: { user_id: limitedKey(request.endUser, USER_ID_LENGTH_MAX) },
    }),
    ...(request.isStream && { stream: true }),
  }
  for (const name of unsupportedMembers(request)) addLoss(losses, name)
  addLossesOfOpenAiMembers(request, losses)
  return { value, losses }
}

function writeToolChoice(request: CanonicalRequest, losses: string[]): Block {
  const { toolChoice, allowsParallelCalls, tools } = request
  const isSingle = allowsParallelCalls === false
  if (toolChoice === null && !isSingle) return {}
  // Anthropic refuses a `tool_choice` in a request without tools.
  if (tools.length === 0) {
    if (toolChoice?.kind === 'required' || toolChoice?.kind === 'tool')
      addLoss(losses, 'toolChoice')
    return {}
  }
  const kind = toolChoice?.kind ?? 'auto'
  if (kind === 'none') return { tool_choice: { type: 'none' } }
  return {
    tool_choice: {
      type: kind === 'required' ? 'any' : kind,
      ...(toolChoice?.kind === 'tool' && { name: toolChoice.name }),
      ...(isSingle && { disable_parallel_tool_use: true }),
    },
  }
}

/**
 * Writes the stop sequences. Blank sequences are reported as lost, because Anthropic refuses them.
 */
function writeStop({ stop }: Sampling, losses: string[]): Block {
  const sequences = stop.filter((sequence, index) => {
    const isUsable = sequence.trim() !== ''
    if (!isUsable) addLoss(losses, `sampling.stop[${index}]`)
    return isUsable
  })
  return sequences.length > 0 ? { stop_sequences: sequences } : {}
}

function writeOutputConfig(
  { answerFormat }: CanonicalRequest,
  { effort }: WrittenThinking,
  losses: string[],
): Block {
  const config: Block = effort === null ? {} : { effort }
  if (answerFormat?.kind === 'json') addLoss(losses, 'answerFormat (json)')
  if (answerFormat?.kind === 'schema') {
    const { schema, isWeaker } = toStructuredOutputSchema(answerFormat.schema)
    if (isWeaker) addLoss(losses, 'answerFormat.schema (constraints)')
    config.format = { type: 'json_schema', schema }
  }
  return Object.keys(config).length > 0 ? { output_config: config } : {}
}

/**
 * Returns the paths of the members that the request uses and that Anthropic's format does not have.
 * A value without effect does not count as used.
 */
function unsupportedMembers({ sampling, logprobs, promptCacheKey }: CanonicalRequest): string[] {
  const { choices, seed, presencePenalty, frequencyPenalty } = sampling
  const isUsed: readonly [string, boolean][] = [
    ['sampling.choices', (choices ?? 1) !== 1],
    ['sampling.seed', seed !== null],
    ['sampling.presencePenalty', (presencePenalty ?? 0) !== 0],
    ['sampling.frequencyPenalty', (frequencyPenalty ?? 0) !== 0],
    ['logprobs', logprobs !== null],
    ['promptCacheKey', promptCacheKey !== null],
  ]
  return isUsed.filter(([, used]) => used).map(([name]) => name)
}
