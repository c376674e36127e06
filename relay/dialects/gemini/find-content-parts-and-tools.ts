import { isAt, type ObjectVisitor } from '../check-nested-json-members.ts'
import {
  type PartKind,
  TOOLS_MAX,
  type ToolElement,
} from '../openai-chat/find-message-parts-and-tools.ts'
import type { FileReference } from '../wire-format.ts'
import { camelCased } from './camel-case.ts'
import { isPricedTool } from './limit-provider-tools.ts'

/** The kind of an object inside a request. */
type Place = 'content' | 'part' | 'blob' | 'file' | 'response' | 'response-part' | 'tool'

/**
 * The members of a part that have at most one token per byte, because their content is in the
 * request itself.
 */
const PLAIN = new Set([
  ...['text', 'thought', 'thoughtSignature', 'thought_signature', 'functionCall', 'function_call'],
  ...['executableCode', 'executable_code', 'codeExecutionResult', 'code_execution_result'],
  ...['toolCall', 'tool_call', 'toolResponse', 'tool_response', 'partMetadata', 'part_metadata'],
  ...['videoMetadata', 'video_metadata', 'mediaResolution', 'media_resolution'],
])
const INNER: ReadonlyMap<string, Place> = new Map<string, Place>([
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
/** The members of the request with contents or tools, each with the place of its objects. */
const ROOTS: ReadonlyMap<string, Place> = new Map<string, Place>([
  ['contents', 'content'],
  ['systemInstruction', 'content'],
  ['system_instruction', 'content'],
  ['tools', 'tool'],
])
/**
 * The members of a tool that the caller runs. All others are tools that Google runs and charges
 * for, such as `googleSearch`. The model only describes the actions of `computerUse`.
 */
export const CALLER_TOOLS: ReadonlySet<string> = new Set([
  ...['functionDeclarations', 'function_declarations', 'computerUse', 'computer_use'],
])

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const OPEN_BRACE = 123
const TEXT = Buffer.from('"text"')
/** No known name is longer, even if each of its characters is escaped. */
const NAME_BYTES_MAX = 6 * 32 + 2
/** The maximum length in bytes of a MIME type or an address. */
const VALUE_BYTES_MAX = 8_192
/** Of the hosts of Google's APIs, only this one may have public files. */
const PUBLIC_STORAGE = 'storage.googleapis.com'
/**
 * Reports whether the provider may read an address with the rights of the site's account. This is
 * the case for all but public web addresses.
 */
function isOfAccount(address: string): boolean {
  const url = URL.parse(address.trim())
  if (url === null || !/^https?:$/.test(url.protocol)) return true
  const isGoogleApi = /(?:^|\.)googleapis\.com\.?$/.test(url.hostname)
  return isGoogleApi && url.hostname !== PUBLIC_STORAGE
}
const FILE_PARAM = 'fileData.fileUri'
/** The maximum number of files with an id. One more, without an id, stands for the others. */
const FILES_MAX = 100
/** The maximum depth at which an object may hold a known name. */
const DEPTH_MAX = 12

/**
 * Finds the parts and tools of a request of Gemini's API while its body is scanned. The API accepts
 * one object in place of a list with one object.
 */
export class ContentParts implements ObjectVisitor {
  readonly counts: Record<PartKind, number> = {
    ...{ picture: 0, video: 0, audio: 0, file: 0 },
    storedReasoning: 0,
  }
  /** True if the request has content whose number of tokens can't be bounded. */
  hasUnknown = false
  /** The files that belong to the account of the site at the provider. */
  readonly files: FileReference[] = []
  readonly tools: ToolElement[] = []
  private readonly bytes: Buffer
  /** The place of an object that begins at each depth; null for objects without known names. */
  private readonly places: (Place | null)[] = Array.from({ length: DEPTH_MAX + 3 }, () => null)
  /** The place of the object that is open at each depth. */
  private readonly open: (Place | null)[] = Array.from({ length: DEPTH_MAX + 3 }, () => null)
  /** The kind of the data that is being read. Null until its MIME type has been read. */
  private kind: PartKind | null = null
  /** The deepest object in `places`. */
  private deepest = 0
  private toolStart = 0
  private isCallerTool = true
  private isUnpriced = false
  /** The tools of the request that Google runs and that a price covers, in camelCase. */
  readonly pricedTools = new Set<string>()

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  begin(key: string): void {
    this.expect(0, ROOTS.get(key) ?? null)
  }

  visits(depth: number): boolean {
    return depth <= DEPTH_MAX && this.places[depth] !== null
  }

  enter(depth: number, at: number): void {
    const place = this.places[depth] ?? null
    this.open[depth] = place
    if (place === 'blob' || place === 'file') this.kind = null
    if (place !== 'tool') return
    this.toolStart = at
    this.isCallerTool = true
    this.isUnpriced = false
  }

  member(depth: number, start: number, end: number, valueAt: number): void {
    const place = this.open[depth] ?? null
    this.expect(depth, null)
    if (place === 'part' && this.isText(start, end, valueAt)) return
    const name = this.nameAt(start, end)
    if (place === 'content' || place === 'response') this.ofParts(depth, place, name, valueAt)
    else if (place === 'part' || place === 'response-part') this.ofPart(depth, name, valueAt)
    else if (place === 'blob' || place === 'file') this.ofData(place, name, valueAt)
    else if (place === 'tool' && !CALLER_TOOLS.has(name)) this.ofProvidersTool(camelCased(name))
  }

  leave(depth: number, end: number): void {
    const place = this.open[depth]
    this.open[depth] = null
    // Data without a MIME type counts as the kind with the most tokens.
    if (place === 'blob' || place === 'file') this.counts[this.kind ?? 'video'] += 1
    if (place !== 'tool') return
    if (this.tools.length === TOOLS_MAX) return
    const { toolStart: start, isUnpriced } = this
    const isProviderTool = !this.isCallerTool
    this.tools.push({ start, end, isProviderTool, ...(isUnpriced ? { isUnpriced } : {}) })
  }

  mixedArray(depth: number): void {
    if (this.places[depth + 1] !== null) this.hasUnknown = true
  }

  /**
   * Sets the place (the kind of object) that is expected in the next member's value. The member
   * belongs to the object at `depth`.
   */
  private expect(depth: number, place: Place | null): void {
    for (let at = depth + 3; at <= this.deepest; at += 1) this.places[at] = null
    this.deepest = depth + 2
    this.places[depth + 1] = place
    this.places[depth + 2] = place
  }

  private isText(start: number, end: number, valueAt: number): boolean {
    const isNamed = end - start === TEXT.length && isAt(this.bytes, start, TEXT)
    return isNamed && this.bytes[valueAt] === QUOTE
  }

  private ofParts(depth: number, place: 'content' | 'response', name: string, valueAt: number) {
    const inner = place === 'content' ? 'part' : 'response-part'
    if (name === 'parts') this.expectObjects(depth, inner, valueAt)
    else if (place === 'content' ? name !== 'role' : !IN_RESPONSE.has(name)) this.hasUnknown = true
  }

  private ofPart(depth: number, name: string, valueAt: number): void {
    const inner = INNER.get(name)
    if (inner !== undefined) this.expectObjects(depth, inner, valueAt)
    else if (!PLAIN.has(name) || this.bytes[valueAt] === OPEN_BRACKET) this.hasUnknown = true
  }

  private expectObjects(depth: number, place: Place, valueAt: number): void {
    const byte = this.bytes[valueAt]
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.expect(depth, place)
  }

  private ofProvidersTool(name: string): void {
    this.isCallerTool = false
    if (isPricedTool(name)) this.pricedTools.add(name)
    else this.isUnpriced = true
  }

  /**
   * Finds the kind of the data. A video on YouTube is a video whatever MIME type the caller states.
   * Sound outside the request counts as a file, because the request's length does not bound it.
   */
  private ofData(place: 'blob' | 'file', name: string, valueAt: number): void {
    if (name === 'mimeType' || name === 'mime_type') {
      const kind = kindOf(this.valueAt(valueAt) ?? '', place)
      // If there are two MIME types, the provider may read either of them.
      this.kind = this.kind === null ? kind : 'video'
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
   * Returns the string at `start`, which the scanner has not checked yet. Returns null for a longer
   * string and for any other value.
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

  /** Returns a name without its quotes, or an empty text if it is too long for a known name. */
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

/** Returns the kind of data with this MIME type. Any other type may be a video. */
function kindOf(mimeType: string, place: 'blob' | 'file'): PartKind {
  const [type] = mimeType.toLowerCase().split('/')
  if (type === 'image') return 'picture'
  if (type === 'audio') return place === 'blob' ? 'audio' : 'file'
  return type === 'application' || type === 'text' ? 'file' : 'video'
}
