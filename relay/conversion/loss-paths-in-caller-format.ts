import type { ConvertedFormatName } from '#relay/dialects/wire-format.ts'
import type { CanonicalRequest } from '../canonical/canonical-request.ts'
import { findCallerPath } from './caller-paths-of-canonical-parts.ts'

/** Maps the paths of members of a canonical request to their names in one wire format. */
type Names = Readonly<Record<string, string>>

/** The paths of the instructions, the messages and the parts of messages in a wire format. */
type Places = {
  readonly system: string
  readonly instruction: string
  readonly messages: string
  readonly content: 'content' | 'parts'
}

const CHAT_PLACES: Places = {
  system: 'messages',
  instruction: 'messages[].content[]',
  messages: 'messages',
  content: 'content',
}

const OPENAI_PARTS: Names = {
  cache: 'cache_control',
  isError: 'is_error',
  argumentsJson: 'arguments',
}

/**
 * Returns the names of a format: `others`, and the names of instructions, messages, parts and their
 * members. `members` has the names of the members of messages and parts.
 */
function withPlaces(
  { system, instruction, messages, content }: Places,
  members: Names,
  others: Names,
): Names {
  const message = `${messages}[]`
  const part = `${message}.${content}[]`
  const places = {
    system,
    'system[]': instruction,
    messages,
    'messages[]': message,
    'messages[].parts[]': part,
    'messages[].parts[].parts[]': `${part}.${content}[]`,
  }
  const names: Record<string, string> = { ...places, ...others, 'tools[]': 'tools[]' }
  for (const [path, place] of Object.entries(places)) {
    for (const [member, name] of Object.entries(members)) {
      names[`${path}.${member}`] = `${place}.${name}`
    }
  }
  return names
}

const OPENAI: Names = {
  toolChoice: 'tool_choice',
  allowsParallelCalls: 'parallel_tool_calls',
  endUser: 'user',
  promptCacheKey: 'prompt_cache_key',
  'openAi.verbosity': 'verbosity',
  'openAi.metadata': 'metadata',
  'openAi.promptCacheRetention': 'prompt_cache_retention',
  'openAi.safetyIdentifier': 'safety_identifier',
  'sampling.choices': 'n',
  'sampling.temperature': 'temperature',
  'sampling.topP': 'top_p',
  'sampling.topK': 'top_k',
  'sampling.seed': 'seed',
  'sampling.presencePenalty': 'presence_penalty',
  'sampling.frequencyPenalty': 'frequency_penalty',
  'sampling.stop': 'stop',
  'tools[].cache': 'tools[].cache_control',
}

const CHAT: Names = {
  ...OPENAI,
  outputTokensMax: 'max_tokens',
  answerFormat: 'response_format',
  'answerFormat.schema': 'response_format.json_schema.schema',
  thinking: 'reasoning_effort',
  'thinking.effort': 'reasoning_effort',
  'thinking.tokens': 'thinking.budget_tokens',
  'tools[].isStrict': 'tools[].function.strict',
  'tools[].schema': 'tools[].function.parameters',
}

const RESPONSES: Names = {
  ...OPENAI,
  'openAi.verbosity': 'text.verbosity',
  outputTokensMax: 'max_output_tokens',
  answerFormat: 'text.format',
  'answerFormat.schema': 'text.format.schema',
  logprobs: 'top_logprobs',
  thinking: 'reasoning',
  'thinking.effort': 'reasoning.effort',
  'thinking.tokens': 'reasoning',
  'tools[].isStrict': 'tools[].strict',
  'tools[].schema': 'tools[].parameters',
}

const MESSAGES: Names = {
  ...OPENAI,
  allowsParallelCalls: 'tool_choice.disable_parallel_tool_use',
  endUser: 'metadata.user_id',
  outputTokensMax: 'max_tokens',
  'sampling.stop': 'stop_sequences',
  answerFormat: 'output_config.format',
  'answerFormat.schema': 'output_config.format.schema',
  'thinking.effort': 'output_config.effort',
  'thinking.tokens': 'thinking.budget_tokens',
  'tools[].isStrict': 'tools[].strict',
  'tools[].schema': 'tools[].input_schema',
}

const CONFIG = 'generationConfig'
const GEMINI: Names = {
  toolChoice: 'toolConfig',
  outputTokensMax: `${CONFIG}.maxOutputTokens`,
  answerFormat: `${CONFIG}.responseMimeType`,
  'answerFormat.schema': `${CONFIG}.responseSchema`,
  logprobs: `${CONFIG}.responseLogprobs`,
  thinking: `${CONFIG}.thinkingConfig`,
  'thinking.effort': `${CONFIG}.thinkingConfig.thinkingLevel`,
  'thinking.tokens': `${CONFIG}.thinkingConfig.thinkingBudget`,
  sampling: CONFIG,
  'sampling.choices': `${CONFIG}.candidateCount`,
  'sampling.stop': `${CONFIG}.stopSequences`,
  'tools[].schema': 'tools[].functionDeclarations[].parameters',
}

const NAMES: Readonly<Record<ConvertedFormatName, Names>> = {
  chat: withPlaces(CHAT_PLACES, OPENAI_PARTS, CHAT),
  completions: withPlaces(CHAT_PLACES, OPENAI_PARTS, CHAT),
  responses: withPlaces(
    { ...CHAT_PLACES, system: 'instructions', instruction: 'instructions', messages: 'input' },
    OPENAI_PARTS,
    RESPONSES,
  ),
  messages: withPlaces(
    { ...CHAT_PLACES, system: 'system', instruction: 'system[]' },
    { ...OPENAI_PARTS, argumentsJson: 'input' },
    MESSAGES,
  ),
  gemini: withPlaces(
    {
      system: 'systemInstruction',
      instruction: 'systemInstruction.parts[]',
      messages: 'contents',
      content: 'parts',
    },
    { argumentsJson: 'args', signature: 'thoughtSignature' },
    GEMINI,
  ),
}

const NO_CONVERSATION = { system: [], messages: [] } as const

/**
 * Replaces the canonical paths of losses with the paths in the caller's format.
 * `messages[2].parts[0]` becomes the path of the part in the caller's request, such as
 * `messages[3].content[0]`. If this path is unknown, the result is `messages[].content[]`, because
 * reading may have joined or moved messages. Each path is returned once.
 */
export function callerPathsOfLosses(
  losses: readonly string[],
  caller: ConvertedFormatName,
  request: Pick<CanonicalRequest, 'system' | 'messages'> = NO_CONVERSATION,
): readonly string[] {
  const names = NAMES[caller]
  return [
    ...new Set(
      losses.map((loss) => {
        const name = callerName(loss, names)
        const located = findCallerPath(loss, request)
        if (located === null) return name
        return `${located.callerPath}${name.slice(callerName(located.object, names).length)}`
      }),
    ),
  ]
}

/**
 * The number of characters at the beginning of a loss that are compared with the known paths. All
 * known paths are shorter. The limit is needed because the rest of a loss may contain a very long
 * name from the caller.
 */
const PATH_LENGTH_MAX = 96

/**
 * Replaces the longest known path at the start of a loss with its name in the caller's format.
 * Returns the loss unchanged if it begins with no known path.
 */
function callerName(loss: string, names: Names): string {
  let end = Math.min(loss.length, PATH_LENGTH_MAX)
  while (end > 0) {
    const path = loss.slice(0, end).replaceAll(/\[\d+\]/g, '[]')
    if (Object.hasOwn(names, path)) return `${names[path]}${loss.slice(end)}`
    end = Math.max(...['.', ' ', '['].map((mark) => loss.lastIndexOf(mark, end - 1)))
  }
  return loss
}
