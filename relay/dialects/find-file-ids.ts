import { foldedName } from '#domain/shared/fold-name-case.ts'
import { isAt, type ObjectVisitor } from './check-nested-json-members.ts'
import { DEPTH_MAX } from './scan-request-object.ts'
import type { FileReference } from './wire-format.ts'

/** The members that name files or stores of files, without case and separators. */
const FILE_MEMBERS = new Set(['fileid', 'fileids', 'vectorstoreid', 'vectorstoreids'])
/** The members with addresses, some of which name files at providers, such as `ms://…`. */
const ADDRESS_MEMBERS = new Set(['url', 'imageurl', 'videourl', 'audiourl', 'fileurl'])
/** Matches the start of an address that every provider reads from the web, or of inline data. */
const PUBLIC_ADDRESS = /^(?:https?:|data:)/i
/** Matches the start of any other address. */
const OTHER_ADDRESS = /^\s*[a-z][a-z0-9+.-]{0,30}:/i
/** The number of bytes of an address that are looked at. */
const SCHEME_BYTES_MAX = 40
/**
 * The members whose values no provider reads as files: arguments, schemas and examples of the
 * caller's functions, and what earlier answers cite.
 */
const OPAQUE = [
  ...['tool_calls', 'function_call', 'function', 'parameters', 'input_schema', 'input_examples'],
  ...['input', 'arguments', 'action', 'annotations', 'results', 'logprobs', 'schema'],
].map((name) => Buffer.from(JSON.stringify(name)))
const OPAQUE_BYTES_MAX = Math.max(...OPAQUE.map(({ length }) => length))
/** The names in `OPAQUE` by their length in bytes, because most keys have another length. */
const OPAQUE_BY_LENGTH: readonly (readonly Buffer[])[] = Array.from(
  { length: OPAQUE_BYTES_MAX + 1 },
  (_, length) => OPAQUE.filter((name) => name.length === length),
)
const OPAQUE_ROOTS = new Set(['metadata', 'guided_json'])
/** The maximum number of references with an id. One more, without an id, stands for the others. */
const REFERENCES_MAX = 100
const ID_BYTES_MAX = 256
const LIST_BYTES_MAX = 16_384

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
/** The first letters of the names, in lower case. */
const FIRST_LETTERS = new Set([...'fuiva'].map((letter) => letter.charCodeAt(0)))
const NON_ASCII = 128
/** The shortest of the names, with its quotes. */
const KEY_BYTES_MIN = 5
/** The lengths of the shortest name with one escape, and of the longest name with only escapes. */
const ESCAPED_KEY_BYTES_MIN = 10
const ESCAPED_KEY_BYTES_MAX = 98

/**
 * Finds the files of the provider that a request names by their ids, while its body is scanned. The
 * scanner's calls are passed on to `inner`. Ids are found everywhere outside `OPAQUE`. Providers
 * accept them in the results of tools and in the code interpreter's containers, for example.
 */
export class FileIdFinder implements ObjectVisitor {
  private readonly bytes: Buffer
  private readonly inner: ObjectVisitor
  private readonly references: FileReference[] = []
  /** Whether `inner` visits the open object at each depth. */
  private readonly isInner: boolean[] = Array.from({ length: DEPTH_MAX + 2 }, () => false)
  /** The start and the end of the latest key at each depth. */
  private readonly starts: number[] = Array.from({ length: DEPTH_MAX + 2 }, () => 0)
  private readonly ends: number[] = Array.from({ length: DEPTH_MAX + 2 }, () => 0)
  private root = ''
  private element = -1
  /** Objects that are deeper than this depth are in the value of a member in `OPAQUE`. */
  private opaqueFrom = DEPTH_MAX

  constructor(bytes: Buffer, inner: ObjectVisitor) {
    this.bytes = bytes
    this.inner = inner
  }

  /** The request's member `fileReferences`, which is omitted if no file was found. */
  get found(): { readonly fileReferences?: readonly FileReference[] } {
    return this.references.length === 0 ? {} : { fileReferences: this.references }
  }

  begin(key: string): void {
    this.inner.begin(key)
    this.root = key
    this.element = -1
    this.ends[1] = 0
    this.ends[2] = 0
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
    if (this.isMember(FILE_MEMBERS, start, end)) this.addValue(depth, valueAt)
    else if (this.bytes[valueAt] === QUOTE && this.isMember(ADDRESS_MEMBERS, start, end)) {
      if (this.isFileAddress(valueAt)) this.add(this.idAt(valueAt), this.pathAt(depth))
    }
    if (this.opaqueFrom > 0) this.opaqueFrom = this.isOpaque(start, end) ? depth : DEPTH_MAX
  }

  leave(depth: number, end: number): void {
    if (this.isInner[depth]) this.inner.leave(depth, end)
  }

  mixedArray(depth: number): void {
    this.inner.mixedArray(depth)
  }

  private isOpaque(start: number, end: number): boolean {
    const length = end - start
    if (length > OPAQUE_BYTES_MAX) return false
    for (const name of OPAQUE_BY_LENGTH[length] ?? NO_NAMES) {
      if (isAt(this.bytes, start, name)) return true
    }
    return false
  }

  /** Reports whether a key is one of `names`. Most other keys are not decoded. */
  private isMember(names: ReadonlySet<string>, start: number, end: number): boolean {
    const length = end - start
    if (length < KEY_BYTES_MIN || length > ESCAPED_KEY_BYTES_MAX) return false
    const first = this.bytes[start + 1] as number
    const isLikely = FIRST_LETTERS.has(first | 32) || first >= NON_ASCII
    if (!isLikely && (length < ESCAPED_KEY_BYTES_MIN || !this.hasEscape(start, end))) return false
    return names.has(unseparated(this.textAt(start, end)))
  }

  /** Reports whether an address is neither on the web nor inline data. */
  private isFileAddress(start: number): boolean {
    const head = this.bytes.toString('latin1', start + 1, start + 1 + SCHEME_BYTES_MAX)
    if (PUBLIC_ADDRESS.test(head)) return false
    const scheme = head.split(/[/:"]/, 1)[0] ?? ''
    return scheme.includes('\\') || OTHER_ADDRESS.test(head)
  }

  private hasEscape(start: number, end: number): boolean {
    for (let at = start + 1; at < end - 1; at += 1) if (this.bytes[at] === BACKSLASH) return true
    return false
  }

  private textAt(start: number, end: number): string {
    return JSON.parse(this.bytes.toString('utf8', start, end)) as string
  }

  /** Adds the ids in a member's value: a text or a list of texts. Other values name no file. */
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
      const [start, end] = [this.starts[at] as number, this.ends[at] as number]
      // A key that precedes the key above it belongs to an earlier object.
      if (end === 0 || (above > 0 && start < (this.ends[above] as number))) continue
      const index = above === 0 && this.element >= 0 ? `[${this.element}]` : '[]'
      path += index.repeat(at - above - 1)
      path += `.${this.textAt(start, end)}`
      above = at
    }
    return path.slice(0, PATH_LENGTH_MAX)
  }
}

const NO_NAMES: readonly Buffer[] = []
const PATH_LENGTH_MAX = 128

const unseparated = (key: string): string => foldedName(key).replaceAll(/[_-]/g, '')
