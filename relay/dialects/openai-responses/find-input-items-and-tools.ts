import { foldedName } from '#domain/shared/fold-json-member-names.ts'
import {
  type BodyNames,
  CHAT_NAMES,
  ELEMENT_DEPTH,
  type Meaning,
  MessagePartAndToolFinder,
  meanings,
  namesOfTool,
  OPEN_BRACKET,
  PART_DEPTH,
  QUOTED_TYPE,
  quoted,
} from '../openai-chat/find-message-parts-and-tools.ts'

/**
 * The types and members of content parts with at most one token per byte, because their content is
 * in the request itself.
 */
const PLAIN_IN_PART = [
  ...['text', 'input_text', 'output_text', 'summary_text', 'reasoning_text', 'refusal', 'type'],
  ...['annotations', 'logprobs', 'detail', 'format', 'filename', 'file_data', 'url', 'logs'],
  ...['prompt_cache_breakpoint', 'encrypted_content', 'stdout', 'stderr', 'outcome'],
  ...['computer_screenshot', 'phase', 'created_by'],
]

/** The members of items with at most one token per byte. */
const PLAIN_IN_ITEM = [
  ...['id', 'role', 'type', 'status', 'phase', 'content', 'summary', 'encrypted_content', 'tools'],
  ...['call_id', 'name', 'namespace', 'arguments', 'input', 'output', 'action', 'actions'],
  ...['operation', 'environment', 'max_output_length', 'code', 'container_id', 'outputs'],
  ...['queries', 'results', 'server_label', 'error', 'approve', 'reason', 'approval_request_id'],
  ...['execution', 'acknowledged_safety_checks', 'pending_safety_checks', 'caller', 'created_by'],
  ...['result', 'fingerprint', 'agent', 'end_turn'],
]

/**
 * The known types of items. An item of any other type has no known bound for its number of tokens.
 */
const ITEM_TYPES: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ...[
    ...['message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call'],
    ...['custom_tool_call_output', 'local_shell_call', 'local_shell_call_output', 'shell_call'],
    ...['shell_call_output', 'apply_patch_call', 'apply_patch_call_output', 'web_search_call'],
    ...['file_search_call', 'code_interpreter_call', 'computer_call', 'mcp_list_tools'],
    ...['mcp_approval_request', 'mcp_approval_response', 'mcp_call', 'tool_search_call'],
    ...['tool_search_output', 'additional_tools', 'configuration_update', 'compaction'],
    ...['compaction_summary', 'compaction_trigger', 'program', 'program_output'],
  ].map((name) => [name, 'plain'] as const),
  // The picture may be stored at the provider and not in the request.
  ['image_generation_call', 'picture'],
  ['computer_call_output', 'picture'],
])

/**
 * Matches the types of tools for which the provider charges only tokens. The caller runs most of
 * them. `tool_search` and `namespace` only organize other tools of the request.
 */
const CALLER_TOOL =
  /^(?:function|custom|local_shell|shell|apply_patch|computer(?:_use_preview)?|tool_search|namespace)$/

const RESPONSES_NAMES: BodyNames = {
  list: 'input',
  contents: ['content', 'output', 'summary', 'outputs'].map(quoted),
  inPart: meanings(PLAIN_IN_PART),
  inMessage: meanings(PLAIN_IN_ITEM),
  callerTool: CALLER_TOOL,
  untypedTool: namesOfTool(['function', 'name', 'description', 'parameters', 'strict']),
  hasResults: CHAT_NAMES.hasResults,
}

const ROLE = quoted('role')
const ID = quoted('id')
const TOOLS = quoted('tools')
const ENVIRONMENT = quoted('environment')
const SKILLS = quoted('skills')
const ENCRYPTED = quoted('encrypted_content')
/**
 * Matches the ids of stored items that the gateway can look up. The ids of all known providers have
 * this form.
 */
export const STORED_ID = /^[\w.:-]{1,128}$/
/** The maximum number of stored items to which a request may refer. */
export const REFERENCES_MAX = 1_000
/** The depth of an object that is the value of a tool's member. */
const ENVIRONMENT_DEPTH = 3
const NULL = 110

/**
 * A reference to a stored item. `item` is the index of the input element that contains the
 * reference, and `span` is the position of this element. `id` is null if the id is invalid.
 */
type FoundReference = {
  readonly item: number
  readonly id: string | null
  readonly span: { readonly start: number; readonly end: number }
}

/**
 * Finds the content parts and tools of a Responses API request while its body is scanned. Items may
 * contain tools, and may refer to content that the provider stores.
 */
export class ItemAndToolFinder extends MessagePartAndToolFinder {
  /** The items that refer to stored items. */
  readonly references: FoundReference[] = []
  /** True if an item has encrypted content. The tokens of such content can't be counted. */
  hasEncryptedItem = false
  /**
   * The index of the first item that contains a tool which the provider runs. Null if there is
   * none.
   */
  itemWithProviderTool: number | null = null
  private itemIndex = -1
  private itemStart = 0
  private itemType: string | null = null
  private hasRole = false
  private idAt = -1
  private hasEncrypted = false
  private isInEnvironment = false
  private isInTools = false

  constructor(bytes: Buffer) {
    super(bytes, RESPONSES_NAMES)
  }

  override begin(key: string): void {
    super.begin(key)
    this.itemIndex = -1
    this.isInEnvironment = false
    this.isInTools = false
  }

  override visits(depth: number): boolean {
    if (depth === ENVIRONMENT_DEPTH) return this.isInEnvironment
    if (depth === PART_DEPTH && this.isInTools) return true
    return super.visits(depth)
  }

  override enter(depth: number, at: number): void {
    if (this.isInner(depth)) return
    super.enter(depth, at)
    if (depth !== ELEMENT_DEPTH) return
    this.itemIndex += 1
    this.itemStart = at
    this.itemType = null
    this.hasRole = false
    this.idAt = -1
    this.hasEncrypted = false
    this.isInEnvironment = false
    this.isInTools = false
  }

  override leave(depth: number, end: number): void {
    if (this.isInner(depth)) return
    super.leave(depth, end)
    if (depth === ELEMENT_DEPTH && this.list === 'messages') this.endItem(end)
  }

  override mixedArray(depth: number): void {
    if (!this.isInTools) super.mixedArray(depth)
  }

  protected override plainMember(
    depth: number,
    start: number,
    end: number,
    valueAt: number,
    isRuled: boolean,
  ): void {
    if (depth === ENVIRONMENT_DEPTH) return this.environmentMember(start, end, valueAt)
    if (depth === PART_DEPTH && this.isInTools) return this.innerToolMember(start, end, valueAt)
    super.plainMember(depth, start, end, valueAt, isRuled)
    if (depth !== ELEMENT_DEPTH) return
    this.isInTools = this.bytes[valueAt] === OPEN_BRACKET && this.is(start, end, TOOLS)
    if (this.list === 'tools') {
      this.isInEnvironment = this.is(start, end, ENVIRONMENT) && this.bytes[valueAt] !== NULL
    } else if (this.is(start, end, QUOTED_TYPE)) this.typeOfItem(valueAt)
    else if (this.is(start, end, ROLE)) this.hasRole = true
    else if (this.is(start, end, ID)) this.idAt = valueAt
    else if (this.is(start, end, ENCRYPTED)) {
      this.hasEncrypted = this.bytes[valueAt] === QUOTE && this.bytes[valueAt + 1] !== QUOTE
      this.hasEncryptedItem ||= this.hasEncrypted
    }
  }

  /**
   * Reports whether the object at this depth is a shell's environment, or a tool inside an item or
   * inside a namespace of tools.
   */
  private isInner(depth: number): boolean {
    return depth === ENVIRONMENT_DEPTH || (depth === PART_DEPTH && this.isInTools)
  }

  private typeOfItem(valueAt: number): void {
    const type = this.bytes[valueAt] === NULL ? null : this.textAt(valueAt)
    this.itemType = type
    const meaning = type === null ? 'plain' : ITEM_TYPES.get(type)
    if (meaning === undefined) this.hasUnknown = true
    else if (meaning !== 'plain') this.counts[meaning] += 1
  }

  private endItem(end: number): void {
    const { itemType, itemIndex, itemStart: start } = this
    const isReference = itemType === 'item_reference' || (itemType === null && !this.hasRole)
    if (isReference && this.references.length <= REFERENCES_MAX) {
      this.references.push({ item: itemIndex, id: this.idOfItem(), span: { start, end } })
    }
    // Without encrypted content, the provider finds the stored reasoning by its id. Reasoning that
    // the gateway has inserted has no id. The request contains all of this reasoning, and no
    // provider stores it.
    const hasId = this.idAt >= 0 && this.bytes[this.idAt] !== NULL
    const isStored = hasId && !this.hasEncrypted
    if (itemType === 'reasoning' && isStored) this.counts.storedReasoning += 1
  }

  private idOfItem(): string | null {
    const { bytes, idAt } = this
    if (bytes[idAt] !== QUOTE) return null
    const id = bytes.toString('latin1', idAt + 1, bytes.indexOf(QUOTE, idAt + 1))
    return STORED_ID.test(id) ? id : null
  }

  /**
   * Reads a member of a shell's environment. A shell that does not run on the caller's computer
   * runs in a container, for which the provider charges.
   */
  private environmentMember(start: number, end: number, valueAt: number): void {
    const isLocal = this.is(start, end, QUOTED_TYPE) && this.textAt(valueAt) === 'local'
    if (!isLocal && !this.is(start, end, SKILLS)) this.isCallerTool = false
  }

  /** Reads a member of a tool inside an item or inside a namespace of tools. */
  private innerToolMember(start: number, end: number, valueAt: number): void {
    const isType = this.is(start, end, QUOTED_TYPE)
    const isCallerTool = isType && RESPONSES_NAMES.callerTool.test(this.textAt(valueAt))
    // The kind of an inner shell's environment is not read. Any environment counts as a container.
    const isContainer = this.is(start, end, ENVIRONMENT) && this.bytes[valueAt] !== NULL
    if (isCallerTool || !(isType || isContainer || this.isFoldedType(start, end))) return
    if (this.list === 'tools') this.isCallerTool = false
    else this.itemWithProviderTool ??= this.itemIndex
  }

  private isFoldedType(start: number, end: number): boolean {
    const length = end - start
    if (length > TYPE_BYTES_MAX) return false
    return foldedName(JSON.parse(this.keyBytes.toString('utf8', start, end)) as string) === 'type'
  }
}

const QUOTE = 34
/** The maximum length of the name `type` in bytes of JSON, if all its characters are escaped. */
const TYPE_BYTES_MAX = 26
