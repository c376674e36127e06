import type { JsonObject } from '#relay/canonical/json-values.ts'
import {
  type AnswerFormat,
  type CacheMark,
  type CanonicalMessage,
  type CanonicalRequest,
  type CanonicalTool,
  type ContentPart,
  ConversionError,
  type Converted,
  type Effort,
  type Thinking,
  type ToolChoice,
} from '../../canonical/canonical-request.ts'
import { withCallerPath, withPathOf } from '../caller-paths-of-canonical-parts.ts'
import { checkToolParts } from '../check-roles-of-tool-parts.ts'
import { addLoss } from '../collect-losses.ts'
import { RequestObject } from './read-members-and-report-unread.ts'
import {
  type ContentReading,
  findLastSummary,
  readCacheMark,
  readContent,
} from './read-request-content.ts'

const EFFORTS: ReadonlySet<string> = new Set<Effort>(['low', 'medium', 'high', 'xhigh', 'max'])

/**
 * Reads the body of `POST /v1/messages`. Source: the API reference "Messages" on
 * platform.claude.com, and the types in Anthropic's SDK.
 */
export function readRequest(body: JsonObject): Converted<CanonicalRequest> {
  const losses: string[] = []
  const request = new RequestObject(body, '', losses)
  const reading: ContentReading = { losses, toolNames: new Map(), callSignatures: new Map() }
  const system = readSystem(request, reading)
  const tools = readTools(request, losses)
  const { toolChoice, allowsParallelCalls } = readToolChoice(request, tools)
  const messages = readMessages(request, reading)
  const automatic = readCacheMark(request).cache
  const value = {
    model: request.requiredText('model'),
    isStream: request.flag('stream') ?? false,
    system,
    messages: automatic === undefined ? messages : markLastPart(messages, automatic, losses),
    tools,
    toolChoice,
    allowsParallelCalls,
    outputTokensMax: request.count('max_tokens'),
    sampling: readSampling(request),
    ...readOutput(request),
    logprobs: null,
    endUser: readEndUser(request),
    promptCacheKey: null,
  }
  request.reportUnread()
  return { value, losses }
}

function readSystem(request: RequestObject, reading: ContentReading): readonly ContentPart[] {
  const parts = readContent(request.any('system'), 'system', reading)
  checkTexts(parts, 'system')
  return parts
}

function checkTexts(parts: readonly ContentPart[], path: string): void {
  if (parts.every((part) => part.kind === 'text')) return
  throw new ConversionError(path, 'Instructions may only contain texts.')
}

/**
 * Reads the messages. Like Anthropic, it leaves out all content before the summary of the last
 * compaction, which takes the place of this content.
 */
function readMessages(
  request: RequestObject,
  reading: ContentReading,
): readonly CanonicalMessage[] {
  const messages = request.required('messages', request.list('messages'))
  const summary = findLastSummary(messages)
  return messages.flatMap((item, index) => {
    if (index < summary.message) return []
    const path = `messages[${index}]`
    const message = new RequestObject(item, path, reading.losses)
    const role = message.requiredText('role')
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      throw new ConversionError(`${path}.role`, 'The role must be user, assistant or system.')
    }
    const first = index === summary.message ? summary.block : 0
    const parts = readContent(message.any('content'), `${path}.content`, reading, first)
    if (role === 'system') checkTexts(parts, `${path}.content`)
    else checkToolParts(parts, path, role === 'user' ? 'tool-result' : 'tool-call')
    message.reportUnread()
    return withCallerPath({ role, parts }, path)
  })
}

/**
 * Reads the tools that the caller runs. Tools that Anthropic defines have no schema and are
 * reported as lost.
 */
function readTools(request: RequestObject, losses: string[]): readonly CanonicalTool[] {
  return (request.list('tools') ?? []).flatMap((item, index) => {
    const tool = new RequestObject(item, `tools[${index}]`, losses)
    if ((tool.text('type') ?? 'custom') !== 'custom') {
      tool.loseAll()
      return []
    }
    const value = {
      name: tool.requiredText('name'),
      description: tool.text('description') ?? '',
      schema: tool.required('input_schema', tool.json('input_schema')),
      isStrict: tool.flag('strict'),
      ...readCacheMark(tool),
    }
    tool.reportUnread()
    return [value]
  })
}

function readToolChoice(
  request: RequestObject,
  tools: readonly CanonicalTool[],
): Pick<CanonicalRequest, 'toolChoice' | 'allowsParallelCalls'> {
  const object = request.object('tool_choice')
  if (object === null) return { toolChoice: null, allowsParallelCalls: null }
  const choice = readChoice(object)
  const isSingle = object.flag('disable_parallel_tool_use')
  const allowsParallelCalls = isSingle === null ? null : !isSingle
  object.reportUnread()
  // If a tool was not converted, the answer can't be required to call it.
  const isConverted =
    choice.kind === 'tool'
      ? tools.some(({ name }) => name === choice.name)
      : choice.kind !== 'required' || tools.length > 0
  if (isConverted) return { toolChoice: choice, allowsParallelCalls }
  request.lose('tool_choice')
  return { toolChoice: null, allowsParallelCalls }
}

function readChoice(choice: RequestObject): ToolChoice {
  const type = choice.requiredText('type')
  switch (type) {
    case 'auto':
    case 'none':
      return { kind: type }
    case 'any':
      return { kind: 'required' }
    case 'tool':
      return { kind: 'tool', name: choice.requiredText('name') }
    default:
      throw new ConversionError(choice.pathOf('type'), 'This choice of tools is unknown.')
  }
}

function readSampling(request: RequestObject): CanonicalRequest['sampling'] {
  const stop = (request.list('stop_sequences') ?? []).map((sequence, index) => {
    if (typeof sequence === 'string') return sequence
    throw new ConversionError(`stop_sequences[${index}]`, 'A stop sequence must be a string.')
  })
  return {
    choices: null,
    temperature: request.number('temperature'),
    topP: request.number('top_p'),
    topK: request.count('top_k'),
    seed: null,
    presencePenalty: null,
    frequencyPenalty: null,
    stop,
  }
}

/**
 * Reads `thinking`, `output_config` and `output_format`. `output_format` is the older form of
 * `output_config.format`.
 */
function readOutput(request: RequestObject): Pick<CanonicalRequest, 'thinking' | 'answerFormat'> {
  const config = request.object('output_config')
  const effort = readEffort(config)
  const thinking = readThinking(request.object('thinking'))
  const format = readFormat(config?.object('format') ?? null)
  const olderFormat = readFormat(request.object('output_format'))
  // Canonical thinking has either a budget or an effort. An effort replaces `adaptive`, but is lost
  // if thinking has a budget or is disabled.
  const isEffort = effort !== null && (thinking === null || thinking.kind === 'adaptive')
  if (effort !== null && !isEffort) config?.lose('effort')
  config?.reportUnread()
  return {
    thinking: isEffort ? { kind: 'effort', effort } : thinking,
    answerFormat: format ?? olderFormat,
  }
}

function readEffort(config: RequestObject | null): Effort | null {
  const effort = config?.text('effort') ?? null
  if (effort === null || EFFORTS.has(effort)) return effort as Effort | null
  throw new ConversionError('output_config.effort', 'This effort is unknown.')
}

function readThinking(thinking: RequestObject | null): Thinking | null {
  if (thinking === null) return null
  const value = readThinkingType(thinking)
  thinking.reportUnread()
  return value
}

function readThinkingType(thinking: RequestObject): Thinking {
  switch (thinking.requiredText('type')) {
    case 'disabled':
      return { kind: 'off' }
    case 'enabled': {
      const tokens = thinking.required('budget_tokens', thinking.count('budget_tokens'))
      return { kind: 'budget', tokens }
    }
    case 'adaptive':
      return { kind: 'adaptive' }
    case 'between_tools':
      thinking.lose('type')
      return { kind: 'adaptive' }
    default:
      throw new ConversionError(thinking.pathOf('type'), 'This type of thinking is unknown.')
  }
}

/**
 * Reads the format of the answer. In Anthropic's format, a schema has no name, and a request does
 * not tell whether the schema is strict.
 */
function readFormat(format: RequestObject | null): AnswerFormat | null {
  if (format === null) return null
  if (format.requiredText('type') !== 'json_schema') {
    throw new ConversionError(format.pathOf('type'), 'This format is unknown.')
  }
  const schema = format.required('schema', format.json('schema'))
  format.reportUnread()
  return { kind: 'schema', name: 'answer', schema, isStrict: null }
}

function readEndUser(request: RequestObject): string | null {
  const metadata = request.object('metadata')
  const endUser = metadata?.text('user_id') ?? null
  metadata?.reportUnread()
  return endUser
}

/**
 * Marks the last cacheable part of the conversation. A `cache_control` at the top level of a
 * request has this meaning. A part that already has a cache mark keeps that mark.
 */
function markLastPart(
  messages: readonly CanonicalMessage[],
  cache: CacheMark,
  losses: string[],
): readonly CanonicalMessage[] {
  const at = messages.findLastIndex(({ parts }) => parts.some(isCacheable))
  const message = messages[at]
  if (message === undefined) {
    addLoss(losses, 'cache_control')
    return messages
  }
  const last = message.parts.findLastIndex(isCacheable)
  const parts = message.parts.map((part, index) =>
    index === last && isMarkable(part)
      ? withPathOf<ContentPart>(part, { ...part, cache: part.cache ?? cache })
      : part,
  )
  return messages.with(at, withPathOf(message, { ...message, parts }))
}

type MarkablePart = Exclude<ContentPart, { kind: 'thinking' | 'refusal' }>

const isMarkable = (part: ContentPart): part is MarkablePart =>
  part.kind !== 'thinking' && part.kind !== 'refusal'

const isCacheable = (part: ContentPart): boolean =>
  isMarkable(part) && (part.kind !== 'text' || part.text.trim() !== '')
