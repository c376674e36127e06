import { type JsonObject, objectOf } from '#relay/canonical/json-values.ts'
import {
  type CanonicalMessage,
  type ContentPart,
  ConversionError,
  type ToolCallPart,
  type ToolResultPart,
} from '../../canonical/canonical-request.ts'
import { type ContentReading, findLastSummary } from '../anthropic-messages/read-request-content.ts'
import { callerPathOf, withCallerPath } from '../caller-paths-of-canonical-parts.ts'
import { checkToolParts } from '../check-roles-of-tool-parts.ts'
import { addLoss, addUnreadMembers } from '../collect-losses.ts'
import { argumentsOfInput } from '../custom-tools-as-functions.ts'
import {
  isAbsent,
  optionalList,
  optionalText,
  requiredList,
  requiredObject,
  requiredText,
} from '../read-json-values-strictly.ts'
import { readArguments } from '../read-openai-content.ts'
import {
  type ResultContent,
  withMarkOfLastPart,
  withoutRepeatedCalls,
  withoutRepeatedThinking,
} from './join-anthropic-and-openai-forms.ts'
import { callSignature, readCacheMark, readContent } from './read-request-content.ts'
import { readThinkingParts } from './thinking-in-assistant-messages.ts'

type Conversation = {
  /** The instructions before the first message that is not an instruction. */
  readonly system: readonly ContentPart[]
  readonly messages: readonly CanonicalMessage[]
}

/**
 * Reads the messages, and `system`, the instructions in Anthropic's form. Consecutive tool results
 * become one message, because other formats expect the results of parallel calls in one message.
 * Content before the summary of a compaction is left out, except the instructions at the beginning.
 */
export function readMessages({ messages, system }: JsonObject, losses: string[]): Conversation {
  const list = requiredList(messages, 'messages')
  if (list.length === 0) throw new ConversionError('messages', 'At least one message is expected.')
  const reader = new MessageReader(losses)
  reader.readSystem(system)
  const left = contentLeft(list)
  for (const [at, element] of list.entries()) {
    if (at >= left.instructions && at < left.message) continue
    const path = `messages[${at}]`
    reader.read(requiredObject(element, path), path, at, at === left.message ? left.block : 0)
  }
  return { system: reader.system, messages: reader.messages }
}

const INSTRUCTION_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer'])

/**
 * Returns the number of instructions at the beginning, and the indexes of the message and the block
 * after them at which the rest of the conversation begins.
 */
function contentLeft(messages: readonly unknown[]) {
  const { message, block } = findLastSummary(messages)
  const other = messages.findIndex((each) => !INSTRUCTION_ROLES.has(objectOf(each)?.role))
  const instructions = other < 0 ? messages.length : other
  return message < instructions
    ? { instructions, message: instructions, block: 0 }
    : { instructions, message, block }
}

const MESSAGE = ['role', 'content', 'cache_control']
const ASSISTANT_MEMBERS = new Set([
  ...MESSAGE,
  ...['refusal', 'tool_calls', 'function_call'],
  ...['reasoning_content', 'reasoning', 'reasoning_details'],
])
const TOOL_MEMBERS = new Set([...MESSAGE, 'tool_call_id', 'name'])
const OTHER_MEMBERS = new Set(MESSAGE)

class MessageReader {
  readonly system: ContentPart[] = []
  readonly messages: CanonicalMessage[] = []
  private readonly losses: string[]
  /** The names of the called tools, by call id. */
  private readonly names = new Map<string, string>()
  /**
   * The ids that were created for the latest calls in the older form (`function_call`), by tool
   * name. Calls in this form have no id.
   */
  private readonly functionIds = new Map<string, string>()
  private results: ToolResultPart[] | null = null
  /** The ids of the calls whose results follow the assistant's last message. */
  private readonly answered = new Set<string>()
  private readonly reading: ContentReading

  constructor(losses: string[]) {
    this.losses = losses
    this.reading = { losses, toolNames: this.names, callSignatures: new Map() }
  }

  readSystem(content: unknown): void {
    for (const part of readContent(content, 'system', this.reading)) this.system.push(part)
  }

  /** Reads one message. The parts of its content before the index `first` are left out. */
  read(message: JsonObject, path: string, at: number, first = 0): void {
    const role = requiredText(message.role, `${path}.role`)
    if (role === 'tool' || role === 'function') {
      addUnreadMembers(message, TOOL_MEMBERS, path, this.losses)
      for (const result of this.resultsOf(message, path, at)) this.addResult(result)
      return
    }
    this.results = null
    if (role === 'assistant') {
      addUnreadMembers(message, ASSISTANT_MEMBERS, path, this.losses)
      this.answered.clear()
      const parts = this.assistantParts(message, path, at, first)
      checkToolParts(parts, path, 'tool-call')
      for (const part of parts) withCallerPath(part, path)
      this.messages.push({ role, parts })
      return
    }
    addUnreadMembers(message, OTHER_MEMBERS, path, this.losses)
    const parts = this.markedContent(message, path, first)
    checkToolParts(parts, path, role === 'user' ? 'tool-result' : null)
    if (role === 'user')
      this.messages.push({ role, parts: this.withoutRepeatedResults(parts, path) })
    else if (!INSTRUCTION_ROLES.has(role)) {
      throw new ConversionError(`${path}.role`, 'The role is unknown.')
    } else if (this.messages.length === 0) for (const part of parts) this.system.push(part)
    else this.messages.push(withCallerPath({ role: 'system', parts }, path))
  }

  /**
   * Leaves out the results that precede in messages with the role `tool`. Some clients send each
   * result in both forms, and providers refuse a second result of a call.
   */
  private withoutRepeatedResults(parts: readonly ContentPart[], path: string): ContentPart[] {
    return parts.filter((part) => {
      if (part.kind !== 'tool-result' || !this.answered.has(part.callId)) return true
      addLoss(this.losses, callerPathOf(part) ?? path)
      return false
    })
  }

  private addResult(result: ToolResultPart): void {
    if (this.results === null) {
      this.results = []
      this.messages.push({ role: 'user', parts: this.results })
    }
    this.results.push(result)
    this.answered.add(result.callId)
  }

  /**
   * Reads the content. A cache mark of the message is moved to the last part of its content. If
   * this part can't have a mark, the mark is reported as lost.
   */
  private markedContent(message: JsonObject, path: string, first = 0): ContentPart[] {
    const parts = readContent(message.content, `${path}.content`, this.reading, first)
    const cache = readCacheMark(message, path, this.losses)
    const last = parts.at(-1)
    if (cache === null) return parts
    if (last !== undefined && last.kind !== 'thinking' && last.kind !== 'refusal') {
      return [...parts.slice(0, -1), withCallerPath({ ...last, cache }, path)]
    }
    addLoss(this.losses, `${path}.cache_control`)
    return parts
  }

  /**
   * Reads a message with the result of a call. Some clients send results in Anthropic's form within
   * such a message. Each of these has the id of its call, which may be another one.
   */
  private resultsOf(message: JsonObject, path: string, at: number): readonly ToolResultPart[] {
    const name = optionalText(message.name, `${path}.name`) ?? ''
    const ownId =
      message.role === 'function'
        ? (this.functionIds.get(name) ?? functionCallId(at))
        : requiredText(message.tool_call_id, `${path}.tool_call_id`)
    const content = this.markedContent(message, path)
    checkToolParts(content, path, 'tool-result')
    const results = new Map<string, ResultContent>()
    for (const part of content) {
      const block = part.kind === 'tool-result' ? part : null
      const callId = block !== null && this.names.has(block.callId) ? block.callId : ownId
      const result = results.get(callId) ?? { parts: [], isError: false }
      results.set(callId, result)
      for (const each of block?.parts ?? [part]) result.parts.push(each)
      if (block?.isError) result.isError = true
      if (block?.cache !== undefined) result.cache = block.cache
    }
    if (results.size === 0) results.set(ownId, { parts: [], isError: false })
    return [...results].map(([callId, result]) => {
      const called = this.names.get(callId) ?? name
      const part = {
        kind: 'tool-result',
        callId,
        name: called,
        ...withMarkOfLastPart(result),
      } as const
      return withCallerPath(part, path)
    })
  }

  private assistantParts(
    message: JsonObject,
    path: string,
    at: number,
    first: number,
  ): ContentPart[] {
    const refusal = optionalText(message.refusal, `${path}.refusal`) ?? ''
    const content = this.markedContent(message, path, first)
    const written = optionalList(message.tool_calls, `${path}.tool_calls`).map((call, index) => {
      const callPath = `${path}.tool_calls[${index}]`
      return withCallerPath(this.toolCall(requiredObject(call, callPath), callPath), callPath)
    })
    const { others, calls } = withoutRepeatedCalls(content, written)
    return [
      ...withoutRepeatedThinking(readThinkingParts(message), content),
      ...others,
      ...(refusal === '' ? [] : [{ kind: 'refusal' as const, text: refusal }]),
      ...calls,
      ...this.functionCall(message, path, at, calls),
    ]
  }

  private toolCall(call: JsonObject, path: string): ToolCallPart {
    const id = requiredText(call.id, `${path}.id`)
    const isCustom = call.type === 'custom'
    const member = isCustom ? 'custom' : 'function'
    const members = new Set(['id', 'type', member, 'index', 'extra_content'])
    addUnreadMembers(call, members, path, this.losses)
    const part = isCustom
      ? this.customCall(call, id, path)
      : this.callOf(id, call.function, `${path}.function`)
    const signature = callSignature(call)
    return signature === null ? part : { ...part, signature }
  }

  private callOf(id: string, value: unknown, path: string): ToolCallPart {
    const called = requiredObject(value, path)
    addUnreadMembers(called, new Set(['name', 'arguments']), path, this.losses)
    const name = requiredText(called.name, `${path}.name`)
    this.names.set(id, name)
    const argumentsJson = readArguments(called.arguments, `${path}.arguments`, this.losses)
    return { kind: 'tool-call', id, name, argumentsJson }
  }

  /** Reads the call of a custom tool. Its input is a text and not JSON. */
  private customCall(call: JsonObject, id: string, path: string): ToolCallPart {
    const custom = requiredObject(call.custom, `${path}.custom`)
    addUnreadMembers(custom, new Set(['name', 'input']), `${path}.custom`, this.losses)
    const name = requiredText(custom.name, `${path}.custom.name`)
    const input = requiredText(custom.input, `${path}.custom.input`)
    this.names.set(id, name)
    return { kind: 'tool-call', id, name, argumentsJson: argumentsOfInput(input) }
  }

  /** Reads a call in the older form (`function_call`), which has no id. */
  private functionCall(
    message: JsonObject,
    path: string,
    at: number,
    calls: readonly ToolCallPart[],
  ): readonly ToolCallPart[] {
    if (isAbsent(message.function_call)) return []
    const part = this.callOf(functionCallId(at), message.function_call, `${path}.function_call`)
    // Some clients repeat a call in the older form.
    const repeated = calls.find(
      ({ name, argumentsJson }) => name === part.name && argumentsJson === part.argumentsJson,
    )
    this.functionIds.set(part.name, repeated?.id ?? part.id)
    return repeated === undefined ? [part] : []
  }
}

const functionCallId = (messageIndex: number): string => `function_${messageIndex}`
