import { isAt, type ObjectVisitor } from '../check-nested-json-members.ts'
import {
  type PartKind,
  TOOLS_MAX,
  type ToolElement,
} from '../openai-chat/find-message-parts-and-tools.ts'
import type { FileReference } from '../wire-format.ts'
import { camelCased } from './camel-case.ts'
import { isPricedTool } from './limit-provider-tools.ts'

type ObjectKind = 'content' | 'part' | 'blob' | 'file' | 'response' | 'response-part' | 'tool'

/**
 * The members of a part with at most one token per byte, because their content is in the request
 * itself.
 */
const PLAIN = new Set([
  ...['text', 'thought', 'thoughtSignature', 'thought_signature', 'functionCall', 'function_call'],
  ...['executableCode', 'executable_code', 'codeExecutionResult', 'code_execution_result'],
  ...['toolCall', 'tool_call', 'toolResponse', 'tool_response', 'partMetadata', 'part_metadata'],
  ...['videoMetadata', 'video_metadata', 'mediaResolution', 'media_resolution'],
])
const INNER: ReadonlyMap<string, ObjectKind> = new Map<string, ObjectKind>([
  ['inlineData', 'blob'],
  ['inline_data', 'blob'],
  ['fileData', 'file'],
  ['file_data', 'file'],
  ['functionResponse', 'response'],
  ['function_response', 'response'],
])
/** The members of a function response that are not a list of parts. */
const IN_RESPONSE = new Set([
  ...['id', 'name', 'response', 'willContinue', 'will_continue', 'scheduling'],
])
/** The members of the request with contents or tools, each with the kind of their objects. */
const ROOTS: ReadonlyMap<string, ObjectKind> = new Map<string, ObjectKind>([
  ['contents', 'content'],
  ['systemInstruction', 'content'],
  ['system_instruction', 'content'],
  ['tools', 'tool'],
])
/**
 * The members of a tool that the caller runs. All other members are tools that Google runs and
 * charges for, such as `googleSearch`. `computerUse` is a caller's tool, because the model only
 * describes the actions.
 */
export const CALLER_TOOLS: ReadonlySet<string> = new Set([
  ...['functionDeclarations', 'function_declarations', 'computerUse', 'computer_use'],
])

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const OPEN_BRACE = 123
const TEXT = Buffer.from('"text"')
/** The maximum length of a known name in bytes of JSON, if all its characters are escaped. */
const NAME_BYTES_MAX = 6 * 32 + 2
/** The maximum length in bytes of a MIME type or an address. */
const VALUE_BYTES_MAX = 8_192
/** The only host of Google's APIs that may serve public files. */
const PUBLIC_STORAGE = 'storage.googleapis.com'
/**
 * Reports whether the provider may read this address with the rights of the operator's account.
 * Returns false only for web addresses outside Google's APIs and at `PUBLIC_STORAGE`.
 */
function isOfAccount(address: string): boolean {
  const url = URL.parse(address.trim())
  if (url === null || !/^https?:$/.test(url.protocol)) return true
  const isGoogleApi = /(?:^|\.)googleapis\.com\.?$/.test(url.hostname)
  return isGoogleApi && url.hostname !== PUBLIC_STORAGE
}
const FILE_PARAM = 'fileData.fileUri'
/**
 * The maximum number of files with an id. If a request has more, all others are represented by one
 * entry without an id.
 */
const FILES_MAX = 100
/** Objects that are nested deeper than this are not searched for known names. */
const DEPTH_MAX = 12

/**
 * Finds the parts and tools of a request of Gemini's API while its body is scanned. Where the API
 * expects a list of objects, it also accepts a single object.
 */
export class PartAndToolFinder implements ObjectVisitor {
  readonly counts: Record<PartKind, number> = {
    ...{ picture: 0, video: 0, audio: 0, file: 0 },
    storedReasoning: 0,
  }
  /** True if the request has content whose number of tokens has no known bound. */
  hasUnknown = false
  /** The files that belong to the operator's account at the provider. */
  readonly files: FileReference[] = []
  readonly tools: ToolElement[] = []
  private readonly bytes: Buffer
  /**
   * The kind that the next object at each depth will have. Null if its members have no known names.
   */
  private readonly expectedKinds: (ObjectKind | null)[] = Array.from(
    { length: DEPTH_MAX + 3 },
    () => null,
  )
  /** The kind of the object that is open at each depth. */
  private readonly openKinds: (ObjectKind | null)[] = Array.from(
    { length: DEPTH_MAX + 3 },
    () => null,
  )
  /**
   * The kind of the binary data or file that is being read. Null until the MIME type has been read.
   */
  private dataKind: PartKind | null = null
  /** The greatest depth that has an entry in `expectedKinds`. */
  private deepestExpected = 0
  private toolStart = 0
  private isCallerTool = true
  private isUnpriced = false
  /**
   * The tools of the request that Google runs and that have a price, by their names in camelCase.
   */
  readonly pricedTools = new Set<string>()

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  begin(key: string): void {
    this.expect(0, ROOTS.get(key) ?? null)
  }

  visits(depth: number): boolean {
    return depth <= DEPTH_MAX && this.expectedKinds[depth] !== null
  }

  enter(depth: number, at: number): void {
    const objectKind = this.expectedKinds[depth] ?? null
    this.openKinds[depth] = objectKind
    if (objectKind === 'blob' || objectKind === 'file') this.dataKind = null
    if (objectKind !== 'tool') return
    this.toolStart = at
    this.isCallerTool = true
    this.isUnpriced = false
  }

  member(depth: number, start: number, end: number, valueAt: number): void {
    const objectKind = this.openKinds[depth] ?? null
    this.expect(depth, null)
    if (objectKind === 'part' && this.isText(start, end, valueAt)) return
    const name = this.nameAt(start, end)
    if (objectKind === 'content' || objectKind === 'response')
      this.readContentMember(depth, objectKind, name, valueAt)
    else if (objectKind === 'part' || objectKind === 'response-part')
      this.readPartMember(depth, name, valueAt)
    else if (objectKind === 'blob' || objectKind === 'file')
      this.readDataMember(objectKind, name, valueAt)
    else if (objectKind === 'tool' && !CALLER_TOOLS.has(name))
      this.markProviderTool(camelCased(name))
  }

  leave(depth: number, end: number): void {
    const objectKind = this.openKinds[depth]
    this.openKinds[depth] = null
    // Data without a MIME type is counted as video, the kind with the most tokens.
    if (objectKind === 'blob' || objectKind === 'file') this.counts[this.dataKind ?? 'video'] += 1
    if (objectKind !== 'tool') return
    if (this.tools.length === TOOLS_MAX) return
    const { toolStart: start, isUnpriced } = this
    const isProviderTool = !this.isCallerTool
    this.tools.push({ start, end, isProviderTool, ...(isUnpriced ? { isUnpriced } : {}) })
  }

  mixedArray(depth: number): void {
    if (this.expectedKinds[depth + 1] !== null) this.hasUnknown = true
  }

  /**
   * Sets the kind of object that is expected in the value of the next member. The member belongs to
   * the object at `depth`.
   */
  private expect(depth: number, objectKind: ObjectKind | null): void {
    for (let at = depth + 3; at <= this.deepestExpected; at += 1) this.expectedKinds[at] = null
    this.deepestExpected = depth + 2
    this.expectedKinds[depth + 1] = objectKind
    this.expectedKinds[depth + 2] = objectKind
  }

  private isText(start: number, end: number, valueAt: number): boolean {
    const isNamed = end - start === TEXT.length && isAt(this.bytes, start, TEXT)
    return isNamed && this.bytes[valueAt] === QUOTE
  }

  private readContentMember(
    depth: number,
    objectKind: 'content' | 'response',
    name: string,
    valueAt: number,
  ) {
    const inner = objectKind === 'content' ? 'part' : 'response-part'
    if (name === 'parts') this.expectObjects(depth, inner, valueAt)
    else if (objectKind === 'content' ? name !== 'role' : !IN_RESPONSE.has(name))
      this.hasUnknown = true
  }

  private readPartMember(depth: number, name: string, valueAt: number): void {
    const inner = INNER.get(name)
    if (inner !== undefined) this.expectObjects(depth, inner, valueAt)
    else if (!PLAIN.has(name) || this.bytes[valueAt] === OPEN_BRACKET) this.hasUnknown = true
  }

  private expectObjects(depth: number, objectKind: ObjectKind, valueAt: number): void {
    const byte = this.bytes[valueAt]
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.expect(depth, objectKind)
  }

  private markProviderTool(name: string): void {
    this.isCallerTool = false
    if (isPricedTool(name)) this.pricedTools.add(name)
    else this.isUnpriced = true
  }

  /**
   * Reads a member of binary data or of a file, to find its kind. A YouTube address is a video even
   * if the caller states another MIME type. Sound outside the request counts as a file, because the
   * request's length does not bound the number of tokens of the sound.
   */
  private readDataMember(objectKind: 'blob' | 'file', name: string, valueAt: number): void {
    if (name === 'mimeType' || name === 'mime_type') {
      const kind = kindOf(this.valueAt(valueAt) ?? '', objectKind)
      // If two MIME types are given, the provider may read either, so the data counts as video, the
      // kind with the most tokens.
      this.dataKind = this.dataKind === null ? kind : 'video'
    } else if (name === 'fileUri' || name === 'file_uri') {
      const address = this.valueAt(valueAt)
      if (address === null || isOfAccount(address)) {
        const { length } = this.files
        const id = length < FILES_MAX ? address : null
        if (length <= FILES_MAX) this.files.push({ id, param: FILE_PARAM })
      } else if (/youtu/i.test(address)) this.counts.video += 1
    }
  }

  /**
   * Returns the string at `start`. Returns null for a string that is too long and for a value of
   * another kind. The scanner has not checked the string yet.
   */
  private valueAt(start: number): string | null {
    if (this.bytes[start] !== QUOTE) return null
    const last = Math.min(this.bytes.length, start + VALUE_BYTES_MAX)
    let end = start + 1
    while (end < last && this.bytes[end] !== QUOTE) end += this.bytes[end] === BACKSLASH ? 2 : 1
    try {
      return JSON.parse(this.bytes.toString('utf8', start, end + 1)) as string
    } catch {
      return null
    }
  }

  /**
   * Returns a name without its quotes. Returns an empty string if the name is longer than any known
   * name.
   */
  private nameAt(start: number, end: number): string {
    if (end - start > NAME_BYTES_MAX) return ''
    for (let at = start + 1; at < end - 1; at += 1) {
      if (this.bytes[at] === BACKSLASH) {
        return JSON.parse(this.bytes.toString('utf8', start, end)) as string
      }
    }
    return this.bytes.toString('latin1', start + 1, end - 1)
  }
}

/** Returns the kind of data with this MIME type. Unknown types count as video. */
function kindOf(mimeType: string, objectKind: 'blob' | 'file'): PartKind {
  const [type] = mimeType.toLowerCase().split('/')
  if (type === 'image') return 'picture'
  if (type === 'audio') return objectKind === 'blob' ? 'audio' : 'file'
  return type === 'application' || type === 'text' ? 'file' : 'video'
}
