import type { JsonObject } from '#relay/canonical/json-values.ts'
import {
  type CanonicalMessage,
  type ContentPart,
  ConversionError,
  type ToolCallPart,
  type ToolResultPart,
} from '../../canonical/canonical-request.ts'
import type { ContentReading } from '../anthropic-messages/read-request-content.ts'
import { withCallerPath } from '../caller-paths-of-canonical-parts.ts'
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
 */
export function readMessages({ messages, system }: JsonObject, losses: string[]): Conversation {
  const list = requiredList(messages, 'messages')
  if (list.length === 0) throw new ConversionError('messages', 'At least one message is expected.')
  const reader = new MessageReader(losses)
  reader.readSystem(system)
  for (const [at, element] of list.entries()) {
    const path = `messages[${at}]`
    reader.read(requiredObject(element, path), path, at)
  }
  return { system: reader.system, messages: reader.messages }
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
  private readonly reading: ContentReading

  constructor(losses: string[]) {
    this.losses = losses
    this.reading = { losses, toolNames: this.names, callSignatures: new Map() }
  }

  readSystem(content: unknown): void {
    for (const part of readContent(content, 'system', this.reading)) this.system.push(part)
  }

  read(message: JsonObject, path: string, at: number): void {
    const role = requiredText(message.role, `${path}.role`)
    if (role === 'tool' || role === 'function') {
      addUnreadMembers(message, TOOL_MEMBERS, path, this.losses)
      this.addResult(withCallerPath(this.resultOf(message, path, at), path))
      return
    }
    this.results = null
    if (role === 'assistant') {
      addUnreadMembers(message, ASSISTANT_MEMBERS, path, this.losses)
      const parts = this.assistantParts(message, path, at)
      for (const part of parts) withCallerPath(part, path)
      this.messages.push({ role, parts })
      return
    }
    addUnreadMembers(message, OTHER_MEMBERS, path, this.losses)
    const parts = this.markedContent(message, path)
    if (role === 'user') this.messages.push({ role, parts })
    else if (role !== 'system' && role !== 'developer') {
      throw new ConversionError(`${path}.role`, 'The role is unknown.')
    } else if (this.messages.length === 0) for (const part of parts) this.system.push(part)
    else this.messages.push(withCallerPath({ role: 'system', parts }, path))
  }

  private addResult(result: ToolResultPart): void {
    if (this.results === null) {
      this.results = []
      this.messages.push({ role: 'user', parts: this.results })
    }
    this.results.push(result)
  }

  /**
   * Reads the content. A cache mark of the message is moved to the last part of its content. If
   * this part can't have a mark, the mark is reported as lost.
   */
  private markedContent(message: JsonObject, path: string): ContentPart[] {
    const parts = readContent(message.content, `${path}.content`, this.reading)
    const cache = readCacheMark(message, path, this.losses)
    const last = parts.at(-1)
    if (cache === null) return parts
    if (last !== undefined && last.kind !== 'thinking' && last.kind !== 'refusal') {
      return [...parts.slice(0, -1), withCallerPath({ ...last, cache }, path)]
    }
    addLoss(this.losses, `${path}.cache_control`)
    return parts
  }

  private resultOf(message: JsonObject, path: string, at: number): ToolResultPart {
    const name = optionalText(message.name, `${path}.name`) ?? ''
    const callId =
      message.role === 'function'
        ? (this.functionIds.get(name) ?? functionCallId(at))
        : requiredText(message.tool_call_id, `${path}.tool_call_id`)
    // Some clients send the result in Anthropic's form within a message of OpenAI's form.
    const parts = this.markedContent(message, path).flatMap((part) =>
      part.kind === 'tool-result' ? part.parts : [part],
    )
    // A cache mark on the last part of a result has the same effect as a mark on the result.
    const last = parts.at(-1)
    const mark = last !== undefined && 'cache' in last ? last.cache : undefined
    return {
      kind: 'tool-result',
      callId,
      name: this.names.get(callId) ?? name,
      parts: mark === undefined ? parts : parts.with(-1, withoutMark(last as ContentPart)),
      isError: false,
      ...(mark === undefined ? {} : { cache: mark }),
    }
  }

  private assistantParts(message: JsonObject, path: string, at: number): ContentPart[] {
    const refusal = optionalText(message.refusal, `${path}.refusal`) ?? ''
    return [
      ...readThinkingParts(message),
      ...this.markedContent(message, path),
      ...(refusal === '' ? [] : [{ kind: 'refusal' as const, text: refusal }]),
      ...optionalList(message.tool_calls, `${path}.tool_calls`).map((call, index) => {
        const callPath = `${path}.tool_calls[${index}]`
        return withCallerPath(this.toolCall(requiredObject(call, callPath), callPath), callPath)
      }),
      ...this.functionCall(message, path, at),
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
  private functionCall(message: JsonObject, path: string, at: number): readonly ToolCallPart[] {
    if (isAbsent(message.function_call)) return []
    const id = functionCallId(at)
    const part = this.callOf(id, message.function_call, `${path}.function_call`)
    this.functionIds.set(part.name, id)
    return [part]
  }
}

const functionCallId = (messageIndex: number): string => `function_${messageIndex}`

function withoutMark(part: ContentPart): ContentPart {
  const { cache: _, ...rest } = part as ContentPart & { readonly cache?: unknown }
  return rest as ContentPart
}
