import { foldedName } from '#domain/shared/fold-json-member-names.ts'
import { type Ambiguity, isAt, type ObjectVisitor } from '../check-nested-json-members.ts'

/**
 * The kinds of message parts that may have more tokens than bytes. For example, a picture may be
 * given by a short URL.
 */
export type PartKind = 'picture' | 'video' | 'audio' | 'file' | 'storedReasoning'

/** An element of the request's `tools`. The offsets include its braces. */
export type ToolElement = {
  readonly start: number
  readonly end: number
  /**
   * True if the provider runs the tool and may charge for it separately. False for a tool that the
   * caller runs, and for one without a separate price.
   */
  readonly isProviderTool: boolean
  /**
   * True if no price covers the tool. Such a tool is removed even if the channel allows provider
   * tools.
   */
  readonly isUnpriced?: boolean
}

/** The values of `type` and the member names by which each kind of message part is recognized. */
const KINDS: Readonly<Record<PartKind, readonly string[]>> = {
  picture: ['image_url', 'image', 'input_image', 'image_file'],
  video: ['video_url', 'video', 'input_video', 'video_file'],
  audio: ['input_audio', 'audio_url', 'audio', 'audio_file'],
  file: ['file', 'file_url', 'file_id', 'input_file', 'document', 'document_url'],
  // Only an item of OpenAI's Responses API can refer to reasoning that the provider stores.
  storedReasoning: [],
}
/**
 * The types and members of message parts with at most one token per byte, because their content is
 * in the request itself.
 */
const PLAIN = [
  ...['text', 'input_text', 'output_text', 'refusal', 'type', 'cache_control', 'annotations'],
  ...['detail', 'fps', 'min_pixels', 'max_pixels', 'total_pixels', 'format'],
]
/**
 * The members of a message with at most one token per byte, because their content is in the request
 * itself.
 */
const PLAIN_IN_MESSAGE = [
  ...['refusal', 'function_call', 'reasoning', 'reasoning_content', 'reasoning_details'],
  ...['annotations', 'cache_control', 'prefix', 'partial', 'weight', 'id', 'type'],
]
const PART_KINDS = Object.keys(KINDS) as PartKind[]

export type Meaning = PartKind | 'plain'
/**
 * Returns the meaning of each name. A name in `plain` means content with at most one token per
 * byte.
 */
export const meanings = (plain: readonly string[]): ReadonlyMap<string, Meaning> =>
  new Map<string, Meaning>([
    ...PART_KINDS.flatMap((kind) => KINDS[kind].map((name) => [name, kind] as const)),
    ...plain.map((name) => [name, 'plain'] as const),
  ])

export const quoted = (name: string): Buffer => Buffer.from(JSON.stringify(name))

const CONTENT = quoted('content')

/**
 * The names of members and types by which a wire format's message parts and tools are recognized.
 */
export type BodyNames = {
  /** The top-level list of messages. */
  readonly list: string
  /** The members of a message whose value may be a list of content parts. */
  readonly contents: readonly Buffer[]
  /**
   * The meaning of each member name or type of a message part: the part's kind, or that the content
   * has at most one token per byte.
   */
  readonly inPart: ReadonlyMap<string, Meaning>
  readonly inMessage: ReadonlyMap<string, Meaning>
  /** Matches the types of tools that the caller runs. */
  readonly callerTool: RegExp
  /**
   * The members of a tool that the caller runs. A tool without a `type` counts as a provider tool
   * if it has any other member.
   */
  readonly untypedTool: readonly Buffer[]
  /**
   * True if a message part may be a tool's result. The `content` of such a part may have parts too.
   */
  readonly hasResults: boolean
}

export const namesOfTool = (names: readonly string[]): readonly Buffer[] => names.map(quoted)

export const CHAT_NAMES: BodyNames = {
  list: 'messages',
  contents: [CONTENT],
  inPart: meanings(PLAIN),
  inMessage: meanings(PLAIN_IN_MESSAGE),
  callerTool: /^(?:function|custom)$/,
  untypedTool: namesOfTool([
    ...['function', 'name', 'description', 'parameters', 'strict'],
    ...['input_schema', 'cache_control'],
  ]),
  // Some clients send the results of tools in Anthropic's form.
  hasResults: true,
}

export const QUOTED_TYPE = quoted('type')
const TEXT = quoted('text')
/**
 * The members which show that the provider runs a tool, even if the tool's `type` is unknown. The
 * names are in lower case and without underscores.
 */
const PROVIDER_TOOL_MEMBERS = new Set([
  ...['googlesearch', 'googlesearchretrieval', 'enterprisewebsearch', 'googlemaps', 'urlcontext'],
  ...['codeexecution', 'codeinterpreter', 'websearch', 'filesearch', 'retrieval', 'computeruse'],
  ...['mcpservers', 'serverurl', 'imagegeneration'],
])

/**
 * The maximum number of tools in a request. It limits the memory use, and is far above the limits
 * of all providers.
 */
export const TOOLS_MAX = 4_096

const QUOTE = 34
const BACKSLASH = 92
export const OPEN_BRACKET = 91
const NAME_BYTES_MAX = 40
/**
 * The maximum length of a known name in bytes of JSON, including quotes. An escaped character takes
 * six bytes.
 */
const ESCAPED_NAME_BYTES_MAX = 6 * NAME_BYTES_MAX + 2
/**
 * The first bytes of the escape of an ASCII character, and the length of such an escape in bytes.
 */
const ESCAPE_START = Buffer.from('\\u00')
const ESCAPE_BYTES = 6
const NON_ASCII = /[\u0080-\uffff]/
const NONE: readonly PartKind[] = []
/**
 * The nesting depth of an element of `messages` or `tools`, and of a part of a message's content.
 */
export const ELEMENT_DEPTH = 2
export const PART_DEPTH = 4
/** The depth of a part of a tool's result. */
const RESULT_PART_DEPTH = 6

/**
 * Finds the message parts and tools of a chat request while its body is scanned. Both keys and
 * types are inspected, because some providers recognize a part by a key and others by its type.
 */
export class MessagePartAndToolFinder implements ObjectVisitor {
  readonly counts: Record<PartKind, number> = {
    ...{ picture: 0, video: 0, audio: 0, file: 0 },
    storedReasoning: 0,
  }
  /** True if the request has content whose number of tokens has no known bound. */
  hasUnknown = false
  readonly tools: ToolElement[] = []
  /**
   * The first member of a part whose name differs from a known name only by letter case. Null if
   * there is none.
   */
  ambiguity: Ambiguity | null = null
  protected readonly bytes: Buffer
  /**
   * The bytes that contain the current key: the body, or a buffer with only the decoded key if the
   * key has escapes.
   */
  protected keyBytes: Buffer
  protected readonly names: BodyNames
  protected list: 'messages' | 'tools' | null = null
  private isInContent = false
  private isInResult = false
  private kinds: readonly PartKind[] = NONE
  /** The kinds of the part that contains a tool's result, while a part of the result is read. */
  private outerKinds: readonly PartKind[] = NONE
  private toolStart = 0
  /**
   * True if the current tool is a function that the caller runs. Null until the tool's type has
   * been read.
   */
  protected isCallerTool: boolean | null = null
  protected hasUnknownMember = false

  constructor(bytes: Buffer, names: BodyNames) {
    this.bytes = bytes
    this.keyBytes = bytes
    this.names = names
  }

  begin(key: string): void {
    this.list = key === this.names.list ? 'messages' : key === 'tools' ? 'tools' : null
    this.isInContent = false
  }

  visits(depth: number): boolean {
    if (this.list === null) return false
    if (depth === RESULT_PART_DEPTH) return this.isInResult
    return depth === ELEMENT_DEPTH || (depth === PART_DEPTH && this.isInContent)
  }

  enter(depth: number, at: number): void {
    if (depth === RESULT_PART_DEPTH) this.outerKinds = this.kinds
    this.isInResult = depth === RESULT_PART_DEPTH
    if (depth >= PART_DEPTH) {
      this.kinds = NONE
      return
    }
    this.isInContent = false
    this.toolStart = at
    this.isCallerTool = null
    this.hasUnknownMember = false
  }

  member(depth: number, start: number, end: number, valueAt: number, isRuled: boolean): void {
    const length = hasEscape(this.bytes, start, end) ? decode(this.bytes, start, end) : 0
    this.keyBytes = length > 0 ? DECODED : this.bytes
    if (length > 0) this.plainMember(depth, 0, length, valueAt, isRuled)
    else this.plainMember(depth, start, end, valueAt, isRuled)
  }

  /** Reads a member whose key is in `keyBytes`, between `start` and `end`. */
  protected plainMember(
    depth: number,
    start: number,
    end: number,
    valueAt: number,
    isRuled: boolean,
  ): void {
    if (depth >= PART_DEPTH) this.partMember(depth, start, end, valueAt)
    else if (this.list === 'tools') this.toolMember(start, end, valueAt)
    else {
      const isList = this.bytes[valueAt] === OPEN_BRACKET
      this.isInContent = isList && this.names.contents.some((name) => this.is(start, end, name))
      if (!isRuled) this.messageMember(shortName(this.keyBytes, start, end))
    }
  }

  leave(depth: number, end: number): void {
    if (depth >= PART_DEPTH) {
      for (const kind of this.kinds) this.counts[kind] += 1
      if (depth === RESULT_PART_DEPTH) this.kinds = this.outerKinds
      return
    }
    if (this.list !== 'tools' || this.tools.length === TOOLS_MAX) return
    const isProviderTool = !(this.isCallerTool ?? !this.hasUnknownMember)
    this.tools.push({ start: this.toolStart, end, isProviderTool })
  }

  mixedArray(depth: number): void {
    if (depth === PART_DEPTH - 1 && this.isInContent) this.hasUnknown = true
    if (depth === RESULT_PART_DEPTH - 1 && this.isInResult) this.hasUnknown = true
  }

  private messageMember(name: string): void {
    const meaning = this.names.inMessage.get(name)
    if (meaning === undefined) this.hasUnknown = true
    else if (meaning !== 'plain') this.counts[meaning] += 1
  }

  private partMember(depth: number, start: number, end: number, valueAt: number): void {
    const { bytes, names } = this
    if (names.hasResults && depth === PART_DEPTH && this.is(start, end, CONTENT)) {
      this.isInResult = bytes[valueAt] === OPEN_BRACKET
      if (!names.inPart.has('content')) this.hasUnknown = true
      return
    }
    if (this.is(start, end, TEXT)) return
    const isType = this.is(start, end, QUOTED_TYPE)
    if (isType && isAt(bytes, valueAt, TEXT)) return
    const name = isType ? this.textAt(valueAt) : shortName(this.keyBytes, start, end)
    const meaning = names.inPart.get(name)
    if (meaning === 'plain') return
    // A list may have any number of tokens. Only a video's list of frames has a bound.
    const isOddList = bytes[valueAt] === OPEN_BRACKET && meaning !== 'video'
    if (meaning === undefined && !isType) this.checkCase(name, start, end)
    if (meaning === undefined || isOddList) this.hasUnknown = true
    else if (!this.kinds.includes(meaning)) this.kinds = [...this.kinds, meaning]
  }

  /**
   * Records an ambiguity if the key differs from a known name only by letter case. A provider may
   * read such a key as the known name.
   */
  private checkCase(key: string, start: number, end: number): void {
    if (key === '' || this.ambiguity !== null) return
    const isAscii = !NON_ASCII.test(key)
    const other = isAscii ? key.toLowerCase() : foldedKey(this.keyBytes, start, end)
    if (other === key || (!this.names.inPart.has(other) && other !== 'content')) return
    this.ambiguity = { path: `[].content[].${isAscii ? key : other}`, other }
  }

  private toolMember(start: number, end: number, valueAt: number): void {
    const { names } = this
    if (this.is(start, end, QUOTED_TYPE)) {
      const isCallerTool = names.callerTool.test(this.textAt(valueAt))
      this.isCallerTool = isCallerTool && this.isCallerTool === null
    } else if (!names.untypedTool.some((name) => this.is(start, end, name))) {
      this.hasUnknownMember = true
      if (end - start > ESCAPED_NAME_BYTES_MAX) return
      const key = foldedKey(this.keyBytes, start, end)
      if (key === 'type' || PROVIDER_TOOL_MEMBERS.has(key.replaceAll('_', ''))) {
        this.isCallerTool = false
      }
    }
  }

  protected is(start: number, end: number, name: Buffer): boolean {
    return name.length === end - start && isAt(this.keyBytes, start, name)
  }

  /**
   * Returns the string that begins at `start`. The scanner has not checked the string yet. Returns
   * an empty string if the string is longer than any known name or the value is not a string.
   */
  protected textAt(start: number): string {
    if (this.bytes[start] !== QUOTE) return ''
    const end = this.bytes.indexOf(QUOTE, start + 1)
    if (end < 0) return ''
    const hasEscapes = hasEscape(this.bytes, start, end + 1)
    const length = hasEscapes ? decode(this.bytes, start, end + 1) : 0
    return length > 0 ? shortName(DECODED, 0, length) : shortName(this.bytes, start, end + 1)
  }
}

/**
 * Returns a string without its quotes. Returns an empty string if the string is longer than any
 * known name.
 */
const shortName = (bytes: Buffer, start: number, end: number): string =>
  end - start > NAME_BYTES_MAX + 2 ? '' : bytes.toString('latin1', start + 1, end - 1)

/**
 * Reports whether a string has escapes. Returns false for strings that are longer than any known
 * name.
 */
function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > ESCAPED_NAME_BYTES_MAX) return false
  for (let at = start + 1; at < end - 1; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}

/**
 * The name that was decoded last. The buffer is reused, because a body may have a million escaped
 * names.
 */
const DECODED = Buffer.alloc(NAME_BYTES_MAX + 2)

/**
 * Decodes a string into `DECODED`, with its quotes, and returns its length. Returns 0 if the string
 * is longer than any known name, or contains an escape that no known name needs. The scanner may
 * not have checked the string yet.
 */
function decode(bytes: Buffer, start: number, end: number): number {
  let length = 0
  for (let at = start; at < end; at += 1) {
    if (length === DECODED.length) return 0
    let byte = bytes[at] as number
    if (byte === BACKSLASH) {
      byte = escapedSign(bytes, at, end)
      if (byte === 0) return 0
      at += ESCAPE_BYTES - 1
    }
    DECODED[length] = byte
    length += 1
  }
  return length
}

/**
 * Returns the character code of an escape such as `\u0061`. Returns 0 for a character that no known
 * name contains.
 */
function escapedSign(bytes: Buffer, at: number, end: number): number {
  if (at + ESCAPE_BYTES > end || !isAt(bytes, at, ESCAPE_START)) return 0
  const sign = 16 * hexDigit(bytes[at + 4] as number) + hexDigit(bytes[at + 5] as number)
  return sign > QUOTE && sign < 128 && sign !== BACKSLASH ? sign : 0
}

/**
 * Returns the value of a hexadecimal digit. For other bytes, returns a number above all character
 * codes.
 */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : 4_096
}

const foldedKey = (bytes: Buffer, start: number, end: number): string =>
  foldedName(JSON.parse(bytes.toString('utf8', start, end)) as string)
