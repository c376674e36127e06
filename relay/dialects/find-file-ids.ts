import { foldedName } from '#domain/shared/fold-name-case.ts'
import type { ObjectVisitor } from './check-nested-json-members.ts'
import { DEPTH_MAX } from './scan-request-object.ts'
import type { FileReference } from './wire-format.ts'

/** The members that name files, without case and separators. */
const FILE_MEMBERS = new Set(['fileid', 'fileids'])
/**
 * The members whose values no provider reads as files: arguments, schemas and examples of the
 * caller's functions, and what earlier answers cite.
 */
const OPAQUE: readonly Buffer[] = [
  ...['tool_calls', 'function_call', 'function', 'parameters', 'input_schema', 'input_examples'],
  ...['input', 'arguments', 'action', 'annotations', 'results', 'logprobs', 'schema'],
].map((name) => Buffer.from(JSON.stringify(name)))
const OPAQUE_ROOTS = new Set(['metadata', 'guided_json'])
/** The maximum number of references that are collected. Further ones get no id. */
const REFERENCES_MAX = 100
const ID_BYTES_MAX = 256
const LIST_BYTES_MAX = 16_384

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const D = 100
const S = 115
const NON_ASCII = 128
/** The shortest and the longest key in `FILE_MEMBERS`, with quotes and separators. */
const KEY_BYTES_MIN = 8
const KEY_BYTES_MAX = 13
/** No such key is longer, even if each of its characters is escaped. */
const ESCAPED_KEY_BYTES_MAX = 6 * KEY_BYTES_MAX

/**
 * Finds the files of the provider that a request names by their ids, while its body is scanned. All
 * other calls go to `inner`. Ids count at any place but those in `OPAQUE`, because providers accept
 * them at many places, such as the results of tools and the containers of the code interpreter.
 */
export class FileIdFinder implements ObjectVisitor {
  private readonly bytes: Buffer
  private readonly inner: ObjectVisitor
  private readonly references: FileReference[] = []
  /** Whether `inner` visits the open object at each depth. */
  private readonly isInner: boolean[] = Array.from({ length: DEPTH_MAX + 2 }, () => false)
  /** The start and the end of the current key at each depth. An object without keys has none. */
  private readonly starts: number[] = Array.from({ length: DEPTH_MAX + 4 }, () => 0)
  private readonly ends: number[] = Array.from({ length: DEPTH_MAX + 4 }, () => 0)
  private root = ''
  private element = -1
  /** Objects that are deeper than this depth are in the value of a member in `OPAQUE`. */
  private opaqueFrom = DEPTH_MAX

  constructor(bytes: Buffer, inner: ObjectVisitor) {
    this.bytes = bytes
    this.inner = inner
  }

  /** The files as members of a request, which are omitted if there are none. */
  get found(): { readonly files?: readonly FileReference[] } {
    return this.references.length === 0 ? {} : { files: this.references }
  }

  begin(key: string): void {
    this.inner.begin(key)
    this.root = key
    this.element = -1
    this.forgetKeysBelow(0)
    this.opaqueFrom = OPAQUE_ROOTS.has(key) ? 0 : DEPTH_MAX
    if (FILE_MEMBERS.has(unseparated(key))) this.add(null, key)
  }

  visits(depth: number): boolean {
    const isInner = this.inner.visits(depth)
    this.isInner[depth] = isInner
    return isInner || depth <= this.opaqueFrom
  }

  enter(depth: number, at: number): void {
    if (depth <= this.opaqueFrom && this.opaqueFrom > 0) this.opaqueFrom = DEPTH_MAX
    if (depth === 2) this.element += 1
    if (this.isInner[depth]) this.inner.enter(depth, at)
  }

  member(depth: number, start: number, end: number, valueAt: number, isRuled: boolean): void {
    if (this.isInner[depth]) this.inner.member(depth, start, end, valueAt, isRuled)
    if (depth > this.opaqueFrom) return
    this.starts[depth] = start
    this.ends[depth] = end
    this.forgetKeysBelow(depth)
    if (this.isFileMember(start, end)) this.addValue(depth, valueAt)
    if (this.opaqueFrom > 0) this.opaqueFrom = this.isOpaque(start, end) ? depth : DEPTH_MAX
  }

  leave(depth: number, end: number): void {
    if (this.isInner[depth]) this.inner.leave(depth, end)
  }

  mixedArray(depth: number): void {
    this.inner.mixedArray(depth)
  }

  /** The value of a member is up to three levels deeper, if it is a list of lists. */
  private forgetKeysBelow(depth: number): void {
    for (let below = depth + 1; below <= depth + 3; below += 1) this.ends[below] = 0
  }

  private isOpaque(start: number, end: number): boolean {
    const { bytes } = this
    return OPAQUE.some(
      (name) => name.length === end - start && name.compare(bytes, start, end) === 0,
    )
  }

  private isFileMember(start: number, end: number): boolean {
    const length = end - start
    if (length < KEY_BYTES_MIN || length > ESCAPED_KEY_BYTES_MAX) return false
    const last = this.bytes[end - 2] as number
    const isLikely = length <= KEY_BYTES_MAX && (isLastLetter(last) || last >= NON_ASCII)
    if (!isLikely && this.bytes.subarray(start, end).indexOf(BACKSLASH) < 0) return false
    return FILE_MEMBERS.has(unseparated(this.textAt(start, end)))
  }

  private textAt(start: number, end: number): string {
    return JSON.parse(this.bytes.toString('utf8', start, end)) as string
  }

  /** Adds the ids in a member's value. A value of any other kind names no file. */
  private addValue(depth: number, valueAt: number): void {
    const byte = this.bytes[valueAt]
    if (byte !== QUOTE && byte !== OPEN_BRACKET) return
    const path = this.pathAt(depth)
    if (byte === QUOTE) return this.add(this.idAt(valueAt), path)
    const ids = this.idsAt(valueAt)
    if (ids === null) this.add(null, path)
    else for (const id of ids) this.add(id, path)
  }

  private add(id: string | null, param: string): void {
    const { length } = this.references
    if (length < REFERENCES_MAX) this.references.push({ id, param })
    else if (length === REFERENCES_MAX) this.references.push({ id: null, param })
  }

  /** Returns the string at `start`, which the scanner has not checked yet; null if it is long. */
  private idAt(start: number): string | null {
    const end = this.bytes.indexOf(QUOTE, start + 1)
    if (end < 0 || end - start > ID_BYTES_MAX) return null
    const id = this.bytes.toString('utf8', start + 1, end)
    return id.includes('\\') ? null : id
  }

  /** Returns the strings of the list at `start`; null for a list that is long or unusual. */
  private idsAt(start: number): readonly string[] | null {
    const end = this.bytes.indexOf(CLOSE_BRACKET, start)
    if (end < 0 || end - start > LIST_BYTES_MAX) return null
    try {
      const list = JSON.parse(this.bytes.toString('utf8', start, end + 1)) as unknown[]
      return list.every((id) => typeof id === 'string') ? (list as string[]) : null
    } catch {
      return null
    }
  }

  /** Returns the path of the current member, such as `messages[0].content[].file.file_id`. */
  private pathAt(depth: number): string {
    let path = this.root
    let above = 0
    for (let at = 1; at <= depth; at += 1) {
      const end = this.ends[at] as number
      if (end === 0) continue
      const index = above === 0 && this.element >= 0 ? `[${this.element}]` : '[]'
      path += index.repeat(at - above - 1)
      path += `.${this.textAt(this.starts[at] as number, end)}`
      above = at
    }
    return path.slice(0, PATH_LENGTH_MAX)
  }
}

const PATH_LENGTH_MAX = 128

/** Reports whether the letter is the last one of a name in `FILE_MEMBERS`, in either case. */
const isLastLetter = (byte: number): boolean => (byte | 32) === D || (byte | 32) === S

const unseparated = (key: string): string => foldedName(key).replaceAll(/[_-]/g, '')
