import { type JsonObject, objectsOf, textOf } from '#relay/canonical/json-values.ts'
import {
  type CanonicalMessage,
  type ContentPart,
  ConversionError,
  InexpressibleMemberError,
  type ToolCallPart,
  type ToolResultPart,
} from '../../canonical/canonical-request.ts'
import { withCallerPath } from '../caller-paths-of-canonical-parts.ts'
import { addLoss, addUnreadMembers } from '../collect-losses.ts'
import { argumentsOfInput } from '../custom-tools-as-functions.ts'
import {
  optionalText,
  requiredList,
  requiredObject,
  requiredText,
} from '../read-json-values-strictly.ts'
import { readArguments } from '../read-openai-content.ts'
import { functionName } from './convert-caller-tools-to-functions.ts'
import { readEncrypted } from './encrypted-content.ts'
import { readContent } from './read-request-content.ts'
import { textOfReasoning } from './text-of-reasoning-item.ts'

type Conversation = {
  /** The instructions before the first item that is not an instruction. */
  readonly system: readonly ContentPart[]
  readonly messages: readonly CanonicalMessage[]
}

/**
 * Reads `input`, which is a text or a list of items. Consecutive items of the assistant become one
 * message. Consecutive tool results also become one message, because other formats expect the
 * results of parallel calls together. The ids and statuses of items are left out, because they do
 * not affect an answer.
 */
export function readInput(value: unknown, losses: string[]): Conversation {
  if (typeof value === 'string') {
    const parts = readContent(value, 'input', losses)
    return { system: [], messages: [{ role: 'user', parts }] }
  }
  const list = requiredList(value, 'input')
  if (list.length === 0) throw new ConversionError('input', 'At least one item is expected.')
  const reader = new InputReader(losses)
  for (const [at, element] of list.entries()) {
    const path = `input[${at}]`
    reader.path = path
    reader.read(requiredObject(element, path), path)
  }
  return reader
}

/**
 * The types of items that concern a provider's own tools, such as calls that the provider ran, and
 * their results. Such items are reported as lost. The effect of most of them is contained in the
 * texts after them.
 */
const HOSTED_ITEMS: ReadonlySet<string> = new Set([
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call'],
  ...['mcp_list_tools', 'mcp_approval_request', 'mcp_approval_response', 'mcp_call'],
  ...['tool_search_call', 'tool_search_output', 'additional_tools', 'configuration_update'],
  ...['program', 'program_output', 'computer_call', 'computer_call_output'],
])

/**
 * The types of items for calls of tools that the provider defines but the caller runs. Each type is
 * mapped to the name of the tool, and to the item's member with the tool's input.
 */
const BUILT_IN_CALLS: ReadonlyMap<string, readonly [name: string, input: string]> = new Map([
  ['local_shell_call', ['local_shell', 'action']],
  ['shell_call', ['shell', 'action']],
  ['apply_patch_call', ['apply_patch', 'operation']],
])

const ITEM = ['type', 'id', 'status']
const MESSAGE_MEMBERS = new Set([...ITEM, 'role', 'content'])
const CALL_MEMBERS = new Set([...ITEM, 'call_id', 'name', 'namespace', 'arguments', 'input'])
const RESULT_MEMBERS = new Set([...ITEM, 'call_id', 'output', 'name', 'namespace'])
const TEXT_MEMBERS = new Set(['type', 'text'])
const REASONING_MEMBERS = new Set([...ITEM, 'summary', 'content', 'encrypted_content'])

class InputReader implements Conversation {
  readonly system: ContentPart[] = []
  readonly messages: CanonicalMessage[] = []
  /** The path of the item that is being read. */
  path = ''
  private readonly losses: string[]
  /** The names of the called tools, by call id. */
  private readonly names = new Map<string, string>()
  /**
   * The signatures of tool calls, by call id. The item before a call contains the call's signature.
   * A signature is used for one call only, because some providers use the same ids in each answer.
   */
  private readonly callSignatures = new Map<string, string>()
  /**
   * The message to which the next item is added if the item has the same kind. Null if the next
   * item begins a message.
   */
  private open: { readonly kind: 'assistant' | 'results'; readonly parts: ContentPart[] } | null =
    null

  constructor(losses: string[]) {
    this.losses = losses
  }

  read(item: JsonObject, path: string): void {
    const type = optionalText(item.type, `${path}.type`) ?? 'message'
    if (type === 'message') return this.readMessage(item, path)
    if (type === 'reasoning') return this.readReasoning(item, path)
    if (type === 'function_call' || type === 'custom_tool_call') return this.readCall(item, path)
    if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      return this.readResult(item, path)
    }
    if (HOSTED_ITEMS.has(type)) {
      addLoss(this.losses, path)
      return
    }
    const builtIn = BUILT_IN_CALLS.get(type)
    if (builtIn !== undefined) return this.readBuiltInCall(item, path, ...builtIn)
    if (BUILT_IN_CALLS.has(type.replace(/_output$/, ''))) {
      return this.readBuiltInResult(item, path)
    }
    throw new InexpressibleMemberError(path, unreadableItem(type))
  }

  private readMessage(item: JsonObject, path: string): void {
    const role = requiredText(item.role, `${path}.role`)
    addUnreadMembers(item, MESSAGE_MEMBERS, path, this.losses)
    const parts = readContent(item.content, `${path}.content`, this.losses)
    if (role === 'assistant') return this.add('assistant', parts)
    this.open = null
    if (role === 'user') this.messages.push({ role, parts })
    else if (role !== 'system' && role !== 'developer') {
      throw new ConversionError(`${path}.role`, 'The role is unknown.')
    } else if (this.messages.length === 0) this.system.push(...parts)
    else if (parts.length > 0) this.messages.push(withCallerPath({ role: 'system', parts }, path))
  }

  private add(kind: 'assistant' | 'results', parts: readonly ContentPart[]): void {
    if (this.open?.kind !== kind) {
      const list: ContentPart[] = []
      this.open = { kind, parts: list }
      this.messages.push({ role: kind === 'assistant' ? 'assistant' : 'user', parts: list })
    }
    this.open.parts.push(...parts.map((part) => withCallerPath(part, this.path)))
  }

  /**
   * Reads a reasoning item. An item with neither a text nor encrypted content refers to reasoning
   * that its provider stores, and is reported as lost.
   */
  private readReasoning(item: JsonObject, path: string): void {
    addUnreadMembers(item, REASONING_MEMBERS, path, this.losses)
    for (const name of ['summary', 'content']) {
      for (const [at, part] of objectsOf(item[name]).entries()) {
        addUnreadMembers(part, TEXT_MEMBERS, `${path}.${name}[${at}]`, this.losses)
      }
    }
    const text = textOfReasoning(item)
    const encrypted = textOf(item.encrypted_content) || null
    if (encrypted === null) {
      if (text === '') addLoss(this.losses, path)
      else this.add('assistant', [{ kind: 'thinking', text }])
      return
    }
    const kept = readEncrypted(encrypted, text !== '')
    if ('callId' in kept) this.callSignatures.set(kept.callId, kept.callSignature)
    else this.add('assistant', [{ kind: 'thinking', text, ...kept }])
  }

  private readCall(item: JsonObject, path: string): void {
    addUnreadMembers(item, CALL_MEMBERS, path, this.losses)
    const isCustom = item.type === 'custom_tool_call'
    const namespace = optionalText(item.namespace, `${path}.namespace`)
    const name = functionName(requiredText(item.name, `${path}.name`), namespace)
    const argumentsJson = isCustom
      ? argumentsOfInput(requiredText(item.input, `${path}.input`))
      : readArguments(item.arguments, `${path}.arguments`, this.losses)
    this.addCall(requiredText(item.call_id, `${path}.call_id`), name, argumentsJson)
  }

  private addCall(id: string, name: string, argumentsJson: string): void {
    this.names.set(id, name)
    const signature = this.callSignatures.get(id)
    this.callSignatures.delete(id)
    const call: ToolCallPart = { kind: 'tool-call', id, name, argumentsJson }
    this.add('assistant', [signature === undefined ? call : { ...call, signature }])
  }

  private readResult(item: JsonObject, path: string): void {
    addUnreadMembers(item, RESULT_MEMBERS, path, this.losses)
    const callId = requiredText(item.call_id, `${path}.call_id`)
    const name = functionName(textOf(item.name) ?? '', textOf(item.namespace))
    const parts = readContent(item.output, `${path}.output`, this.losses)
    this.addResult(callId, name, parts)
  }

  private addResult(callId: string, name: string, parts: readonly ContentPart[]): void {
    const called = this.names.get(callId) ?? name
    const result: ToolResultPart = {
      ...{ kind: 'tool-result', callId, name: called, parts, isError: false },
    }
    this.add('results', [result])
  }

  /** Reads the call of a built-in tool as a function call. The tool's type is reported as lost. */
  private readBuiltInCall(item: JsonObject, path: string, name: string, member: string): void {
    addLoss(this.losses, `${path}.type`)
    addUnreadMembers(item, new Set([...ITEM, 'call_id', member]), path, this.losses)
    const input = requiredObject(item[member], `${path}.${member}`)
    this.addCall(builtInCallId(item, path), name, JSON.stringify(input))
  }

  private readBuiltInResult(item: JsonObject, path: string): void {
    addLoss(this.losses, `${path}.type`)
    addUnreadMembers(item, new Set([...ITEM, 'call_id', 'output']), path, this.losses)
    const { output } = item
    const text = typeof output === 'string' ? output : JSON.stringify(output ?? '')
    const parts = readContent(text, `${path}.output`, this.losses)
    this.addResult(builtInCallId(item, path), '', parts)
  }
}

/**
 * Returns the id of a built-in tool's call. Only the result of a local shell call may have this id
 * in `id`. All other items have it in `call_id`.
 */
const builtInCallId = (item: JsonObject, path: string): string =>
  textOf(item.call_id) ?? requiredText(item.id, `${path}.call_id`)

function unreadableItem(type: string): string {
  if (type === 'item_reference') {
    return 'An item that another provider stores can’t be read. Send the item itself.'
  }
  return type.startsWith('compaction')
    ? 'A conversation that another provider compacted can’t be continued.'
    : 'The type of the item is unknown.'
}
