import { isDigit } from '../dialects/scan-json-tokens.ts'
import { JsonStringReader } from './json-string-reader.ts'
import { TextExcerpt } from './text-excerpt.ts'
import { TEXT_SEPARATOR } from './utf8-boundaries.ts'

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** The members of a request whose JSON reaches the model unchanged. */
const RAW_MEMBERS = new Set([
  ...['tools', 'functions', 'response_format', 'output_config', 'output_format', 'text'],
])
/** The members of a message whose JSON reaches the model unchanged. */
const RAW_MESSAGE_MEMBERS = new Set(['tool_calls', 'function_call'])
/** The members of an item of the Responses API whose JSON reaches the model unchanged. */
const RAW_ITEM_MEMBERS = new Set([
  ...['name', 'arguments', 'input', 'action', 'actions', 'operation', 'code', 'queries', 'results'],
  ...['tools', 'error', 'environment'],
])
/** The members of a request that are lists of messages. */
const LISTS = new Set(['messages', 'input'])
/** The members of a request that may be a single text. */
const TEXT_MEMBERS = new Set(['instructions', 'input'])
/** The members of a message that are a text or a list of parts. */
const CONTENTS = new Set(['content', 'output', 'summary', 'outputs'])
/** The members of a message part that are text if their value is a string. */
const TEXT_PART_MEMBERS = new Set([
  ...['text', 'thinking', 'content', 'title', 'context', 'refusal', 'stdout', 'stderr', 'logs'],
])
/** The members of a Gemini request that contain texts, most of them in parts. */
const GEMINI_CONTENTS = new Set([
  ...['contents', 'systemInstruction', 'system_instruction', 'content', 'requests', 'title'],
  'instances',
])
/**
 * The paths of texts below a member in `GEMINI_CONTENTS`. In a batch of embeddings, each request
 * contains texts.
 */
const GEMINI_TEXTS = new Set(['', 'parts.text', 'content.parts.text', 'title', 'content'])
/**
 * The paths below a member in `GEMINI_CONTENTS` whose JSON reaches the model unchanged. The result
 * of a function can also contain pictures, but not in the member `response`.
 */
const GEMINI_RAW = new Set([
  ...['parts.functionCall', 'parts.function_call', 'parts.executableCode', 'parts.executable_code'],
  ...['parts.functionResponse.response', 'parts.function_response.response'],
  ...['parts.codeExecutionResult', 'parts.code_execution_result'],
])
const GEMINI_CONFIG = /^generation_?config$/i
const GEMINI_SCHEMA = /^_?response_?(?:json_?)?schema$/i
/** Matches the paths of the MIME types of binary data or files in parts. */
const GEMINI_MIME = /^parts\.(?:inline_?data|file_?data)\.mime_?type$/i
/**
 * The members of a legacy completion request that contain prompts. `suffix` is a text. `prompt` is
 * a text, a list of texts, a list of token numbers, or a list of such lists.
 */
const PROMPTS = new Set(['prompt', 'suffix'])
/** The members of a rerank request. All strings in them are texts. */
const RERANK_MEMBERS = new Set(['query', 'documents'])
/** The types of message parts that are pictures. */
const PICTURES = new Set(['image_url', 'image', 'input_image'])
const MIME_OF_PICTURE = /^image\//

/** The nesting depth of the members of the request itself. */
const IN_REQUEST = 1
/** The nesting depth of the members of a message. */
const IN_MESSAGE = 3
/** The nesting depth of the members of a message part. */
const IN_PART = 5
/**
 * The nesting depth of the members of the deepest message part whose text is read: a part in the
 * `source.content` of a document that is in the `content` of a tool's result.
 */
const IN_DEEPEST_PART = 10
/** The members of message parts that may contain other parts. */
const PART_CONTAINERS = new Set(['content', 'source'])
/** The depth of the members of a part in Anthropic's `system`. */
const IN_SYSTEM_PART = 3

type Role = 'key' | 'type' | 'text' | 'data' | 'raw' | 'none'

/**
 * The content of the `data` of an Anthropic `source`. The content counts as text, unless each
 * `type` of the source is `base64`.
 */
type SourceData = { readonly depth: number; readonly text: TextExcerpt }

/**
 * Collects the text that the model receives from a validated request. The request's JSON is
 * read in pieces, in linear time and bounded memory.
 */
export class RequestTextCollector {
  /** The texts, with `TEXT_SEPARATOR` between them. */
  readonly text: TextExcerpt
  /** The number of texts, of which some may be empty. */
  texts = 0
  messages = 0
  images = 0
  /** The number of tokens that the input of embeddings contains as numbers instead of as text. */
  tokens = 0
  /** The length in bytes of the JSON that was read so far. */
  bytesRead = 0
  private readonly string: JsonStringReader
  private readonly isObject: boolean[] = []
  /**
   * The latest key of each open object, by depth. Keys at depths greater than `IN_DEEPEST_PART` are
   * not stored.
   */
  private readonly keys: string[] = []
  /** The latest `type` of each open object, by depth. */
  private readonly types: string[] = []
  /** The `data` of the innermost open source that has a `data`; null if there is none. */
  private data: SourceData | null = null
  private expectsKey = false
  private role: Role | null = null
  /** The depth at which the current raw JSON value began, or 0 outside raw values. */
  private rawDepth = 0
  /** True after a number in a completion's prompt. Such a number is one token. */
  private isAfterToken = false
  /** True while the digits of one token are read. */
  private isInToken = false

  constructor(text: TextExcerpt = new TextExcerpt()) {
    this.text = text
    this.string = new JsonStringReader(text)
  }

  /** Reads the next piece of the request: the first `end` bytes of `bytes`. */
  feed(bytes: Uint8Array, end: number): void {
    this.bytesRead += end
    let at = 0
    while (at < end) {
      if (this.role !== null) {
        at = this.string.read(bytes, at, end)
        if (this.string.isOver) this.endString()
      } else {
        this.structure(bytes[at] ?? 0)
        at += 1
      }
    }
  }

  private get depth(): number {
    return this.isObject.length
  }

  private structure(byte: number): void {
    if (byte <= 32) return
    if (!isDigit(byte)) this.isInToken = false
    if (byte === QUOTE) return this.beginString()
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.open(byte === OPEN_BRACE)
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.close(byte)
    else if (byte === COMMA) this.next()
    else if (byte === COLON) this.beginValue()
    else if (this.rawDepth > 0) this.text.addByte(byte)
    else if (this.isInInputs()) {
      if (!this.isInToken) this.tokens += 1
      this.isInToken = true
    } else if (this.isInPrompt()) {
      this.text.addByte(byte)
      this.isAfterToken = true
    }
  }

  private open(isObject: boolean): void {
    if (this.rawDepth > 0) this.text.addByte(isObject ? OPEN_BRACE : OPEN_BRACKET)
    const isMessage = isObject && this.depth === IN_MESSAGE - 1
    if (isMessage && (this.isInList() || this.keys[IN_REQUEST] === 'contents')) this.messages += 1
    this.isObject.push(isObject)
    this.keys[this.depth] = ''
    this.types[this.depth] = ''
    this.expectsKey = isObject
  }

  private close(byte: number): void {
    if (this.rawDepth === this.depth) this.rawDepth = 0
    if (this.rawDepth > 0) this.text.addByte(byte)
    if (this.data?.depth === this.depth) this.endData()
    this.isObject.pop()
    this.expectsKey = false
  }

  private next(): void {
    if (this.rawDepth === this.depth) this.rawDepth = 0
    if (this.rawDepth > 0 || this.isAfterToken) this.text.addByte(COMMA)
    this.isAfterToken = false
    this.expectsKey = this.isObject[this.depth - 1] ?? false
  }

  private beginValue(): void {
    this.expectsKey = false
    if (this.rawDepth > 0) this.text.addByte(COLON)
    else if (this.isRawValue()) {
      this.separate()
      this.rawDepth = this.depth
    }
  }

  private isRawValue(): boolean {
    const { keys, depth } = this
    if (depth === IN_REQUEST) return RAW_MEMBERS.has(keys[IN_REQUEST] ?? '')
    if (this.isInContents) return GEMINI_RAW.has(this.pathInContents())
    if (depth === IN_REQUEST + 1 && GEMINI_CONFIG.test(keys[IN_REQUEST] ?? '')) {
      return GEMINI_SCHEMA.test(keys[depth] ?? '')
    }
    if (!this.isInList()) return false
    const isItem = keys[IN_REQUEST] === 'input'
    const members = isItem ? RAW_ITEM_MEMBERS : RAW_MESSAGE_MEMBERS
    if (depth === IN_MESSAGE) return members.has(keys[IN_MESSAGE] ?? '')
    return depth === IN_PART && keys[IN_MESSAGE] === 'content' && keys[IN_PART] === 'input'
  }

  private isInList(): boolean {
    return LISTS.has(this.keys[IN_REQUEST] ?? '')
  }

  /**
   * Reports whether the reader is in a completion's prompt. A prompt may contain token numbers,
   * whose digits are counted as text. This never counts fewer tokens than the prompt contains.
   */
  private isInPrompt(): boolean {
    return PROMPTS.has(this.keys[IN_REQUEST] ?? '')
  }

  /**
   * Reports whether the reader is in a list of inputs, or in a list of tokens within such a list.
   */
  private isInInputs(): boolean {
    const { isObject, depth } = this
    const isInLists = depth === 2 || (depth === 3 && isObject[2] === false)
    return isInLists && isObject[1] === false && this.keys[IN_REQUEST] === 'input'
  }

  private beginString(): void {
    this.role = this.roleOfString()
    if (this.role === 'text') this.separate()
    if (this.role === 'raw') this.text.addByte(QUOTE)
    if (this.role === 'data') this.string.begin('text', this.beginData())
    else this.string.begin(this.role === 'type' ? 'key' : this.role)
  }

  private roleOfString(): Role {
    const { keys, depth } = this
    if (this.rawDepth > 0) return 'raw'
    if (this.expectsKey) return depth <= IN_DEEPEST_PART ? 'key' : 'none'
    if (this.isInContents) return this.roleInContents()
    if (this.isInPrompt()) return depth <= IN_REQUEST + 1 ? 'text' : 'none'
    if (RERANK_MEMBERS.has(keys[IN_REQUEST] ?? '')) return 'text'
    if (this.isInInputs()) return depth === 2 ? 'text' : 'none'
    if (keys[IN_REQUEST] === 'system') return this.isSystemText() ? 'text' : 'none'
    if (depth === IN_REQUEST) return TEXT_MEMBERS.has(keys[IN_REQUEST] ?? '') ? 'text' : 'none'
    if (!this.isInList() || depth < IN_MESSAGE) return 'none'
    const isContent = CONTENTS.has(keys[IN_MESSAGE] ?? '')
    if (depth === IN_MESSAGE) return isContent || this.isTextOfInput() ? 'text' : 'none'
    if (!isContent) return 'none'
    return this.isInPart() ? this.roleInPart() : 'none'
  }

  /**
   * Reports whether the current value is the `text` of an object in the inputs of embeddings or
   * moderations.
   */
  private isTextOfInput(): boolean {
    return this.keys[IN_REQUEST] === 'input' && this.keys[IN_MESSAGE] === 'text'
  }

  private get isInContents(): boolean {
    return GEMINI_CONTENTS.has(this.keys[IN_REQUEST] ?? '')
  }

  /**
   * Returns the keys of the open objects below the request's member, joined by dots. Lists are left
   * out, because Gemini's API accepts one object in place of a list.
   */
  private pathInContents(): string {
    const path: string[] = []
    for (let depth = IN_REQUEST + 1; depth <= this.depth; depth += 1) {
      if (this.isObject[depth - 1]) path.push(this.keys[depth] ?? '')
    }
    return path.join('.')
  }

  private roleInContents(): Role {
    if (this.depth > IN_DEEPEST_PART) return 'none'
    const path = this.pathInContents()
    if (GEMINI_TEXTS.has(path)) return 'text'
    return GEMINI_MIME.test(path) ? 'type' : 'none'
  }

  private isSystemText(): boolean {
    if (this.depth === IN_REQUEST) return true
    return this.depth === IN_SYSTEM_PART && this.keys[IN_SYSTEM_PART] === 'text'
  }

  /**
   * Reports whether the reader is in a message part, or in an object or list that contains the
   * part's content.
   */
  private isInPart(): boolean {
    if (this.depth < IN_PART || this.depth > IN_DEEPEST_PART) return false
    for (let depth = IN_PART; depth < this.depth; depth += 1) {
      // Only objects have keys. Lists are therefore skipped.
      if (this.isObject[depth - 1] && !PART_CONTAINERS.has(this.keys[depth] ?? '')) return false
    }
    return true
  }

  /**
   * Returns the excerpt for the `data` of the innermost open source. If an outer source that is
   * still open has a `data`, the outer `data` is counted as text first.
   */
  private beginData(): TextExcerpt {
    const { data, depth } = this
    if (data !== null && data.depth !== depth) this.addData(data)
    this.data = data?.depth === depth ? data : { depth, text: new TextExcerpt() }
    return this.data.text
  }

  private endData(): void {
    const { data } = this
    this.data = null
    if (data !== null && this.types[data.depth] !== 'base64') this.addData(data)
  }

  private addData({ text }: SourceData): void {
    if (text.length === 0) return
    this.separate()
    this.text.addExcerpt(text)
  }

  private roleInPart(): Role {
    const { keys, depth } = this
    const key = keys[depth] ?? ''
    if (TEXT_PART_MEMBERS.has(key)) return 'text'
    if (key === 'data' && keys[depth - 1] === 'source') return 'data'
    return key === 'type' ? 'type' : 'none'
  }

  private endString(): void {
    const { role, string } = this
    this.role = null
    if (role === 'raw') this.text.addByte(QUOTE)
    if (role === 'key') this.keys[this.depth] = string.captured
    if (role !== 'type') return
    // An object may contain `type` twice, and providers differ in which `type` they read.
    const type = this.types[this.depth]
    this.types[this.depth] = type === '' || type === string.captured ? string.captured : 'mixed'
    if (PICTURES.has(string.captured) || MIME_OF_PICTURE.test(string.captured)) this.images += 1
  }

  /** Inserts a separator between two texts, so that each text is counted by itself. */
  private separate(): void {
    if (this.texts > 0) this.text.addByte(TEXT_SEPARATOR)
    this.texts += 1
  }
}
