import { foldedName } from '#domain/shared/fold-json-member-names.ts'
import { isAt, type ObjectVisitor } from './check-nested-json-members.ts'
import { DEPTH_MAX } from './scan-request-object.ts'
import type { FileReference } from './wire-format.ts'

/**
 * The members whose values are ids of files or file stores. Their names are in lower case and
 * without separators.
 */
const FILE_MEMBERS = new Set(['fileid', 'fileids', 'vectorstoreid', 'vectorstoreids'])
/**
 * The members whose values are addresses. Some addresses name files at a provider, such as
 * `ms://…`.
 */
const ADDRESS_MEMBERS = new Set(['url', 'imageurl', 'videourl', 'audiourl', 'fileurl'])
/**
 * Matches the start of an address that every provider reads from the public web, or of inline data.
 */
const PUBLIC_ADDRESS = /^(?:https?:|data:)/i
/** Matches the start of an address with any scheme. */
const OTHER_ADDRESS = /^\s*[a-z][a-z0-9+.-]{0,30}:/i
/** The number of bytes of an address that are inspected. */
const SCHEME_BYTES_MAX = 40
/**
 * The members whose values no provider reads as files: the arguments, schemas and examples of the
 * caller's functions, and the citations of earlier answers.
 */
const OPAQUE = [
  ...['tool_calls', 'function_call', 'function', 'parameters', 'input_schema', 'input_examples'],
  ...['input', 'arguments', 'action', 'annotations', 'results', 'logprobs', 'schema'],
].map((name) => Buffer.from(JSON.stringify(name)))
const OPAQUE_BYTES_MAX = Math.max(...OPAQUE.map(({ length }) => length))
/**
 * The names in `OPAQUE`, grouped by their length in bytes. Most keys have another length and need
 * no comparison.
 */
const OPAQUE_BY_LENGTH: readonly (readonly Buffer[])[] = Array.from(
  { length: OPAQUE_BYTES_MAX + 1 },
  (_, length) => OPAQUE.filter((name) => name.length === length),
)
const OPAQUE_ROOTS = new Set(['metadata', 'guided_json'])
/**
 * The maximum number of file references with an id. If a request has more, all others are
 * represented by one reference without an id.
 */
const REFERENCES_MAX = 100
const ID_BYTES_MAX = 256
const LIST_BYTES_MAX = 16_384

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
/** The first letters of the names in `FILE_MEMBERS` and `ADDRESS_MEMBERS`. */
const FIRST_LETTERS = new Set([...'fuiva'].map((letter) => letter.charCodeAt(0)))
const NON_ASCII = 128
/**
 * The length in bytes of the shortest name in `FILE_MEMBERS` and `ADDRESS_MEMBERS`, with its
 * quotes.
 */
const KEY_BYTES_MIN = 5
/**
 * The length in bytes, with quotes, of the shortest of these names if one character is escaped, and
 * (in `ESCAPED_KEY_BYTES_MAX`) of the longest name if all characters are escaped.
 */
const ESCAPED_KEY_BYTES_MIN = 10
const ESCAPED_KEY_BYTES_MAX = 98

/**
 * Finds the provider's files that a request names by their ids or by addresses such as `ms://…`,
 * while its body is scanned. The scanner's calls are also passed to the visitor `inner`. Ids are
 * found everywhere except in the members in `OPAQUE` and `OPAQUE_ROOTS`. For example, providers
 * accept ids in tool results and in containers of the code interpreter.
 */
export class FileIdFinder implements ObjectVisitor {
  private readonly bytes: Buffer
  private readonly inner: ObjectVisitor
  private readonly references: FileReference[] = []
  /** True at each depth at which the visitor `inner` visits the open object. */
  private readonly isInner: boolean[] = []
  /**
   * The start and the end of the latest key at each depth. Undefined or 0 if no key was read at the
   * depth.
   */
  private readonly starts: number[] = []
  private readonly ends: number[] = []
  private root = ''
  private element = -1
  /** Objects deeper than this depth belong to the value of a member in `OPAQUE` and are skipped. */
  private opaqueFrom = DEPTH_MAX

  constructor(bytes: Buffer, inner: ObjectVisitor) {
    this.bytes = bytes
    this.inner = inner
  }

  /**
   * An object with the member `fileReferences` for the request. The object is empty if no file was
   * found.
   */
  get found(): { readonly fileReferences?: readonly FileReference[] } {
    return this.references.length === 0 ? {} : { fileReferences: this.references }
  }

  begin(key: string): void {
    this.inner.begin(key)
    this.root = key.slice(0, PATH_LENGTH_MAX)
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
    // Further references would change nothing, and finding their paths takes time.
    if (depth > this.opaqueFrom || this.references.length > REFERENCES_MAX) return
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

  /**
   * Reports whether a key is one of `names`. Most keys that are not one of them are excluded
   * without being decoded.
   */
  private isMember(names: ReadonlySet<string>, start: number, end: number): boolean {
    const length = end - start
    if (length < KEY_BYTES_MIN || length > ESCAPED_KEY_BYTES_MAX) return false
    const first = this.bytes[start + 1] as number
    const isLikely = FIRST_LETTERS.has(first | 32) || first >= NON_ASCII
    if (!isLikely && (length < ESCAPED_KEY_BYTES_MIN || !this.hasEscape(start, end))) return false
    return names.has(unseparated(this.textAt(start, end)))
  }

  /**
   * Reports whether an address has a scheme other than `http`, `https` and `data`. A scheme with an
   * escaped character counts as one of these other schemes.
   */
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

  /**
   * Adds the ids in a member's value, which is a string or a list of strings. Values of other kinds
   * name no file. For a list that can't be read, one reference without an id is added.
   */
  private addValue(depth: number, valueAt: number): void {
    const byte = this.bytes[valueAt]
    if (byte !== QUOTE && byte !== OPEN_BRACKET) return
    const ids = byte === QUOTE ? [this.idAt(valueAt)] : (this.idsAt(valueAt) ?? [null])
    // A request may have any number of empty lists, whose paths would take long to find.
    if (ids.length === 0) return
    const path = this.pathAt(depth)
    for (const id of ids) this.add(id, path)
  }

  private add(id: string | null, param: string): void {
    const { length } = this.references
    if (length < REFERENCES_MAX) this.references.push({ id, param })
    else if (length === REFERENCES_MAX) this.references.push({ id: null, param })
  }

  /**
   * Returns the string at `start`. Returns null if the string is too long or has escapes. The
   * scanner has not checked the string yet.
   */
  private idAt(start: number): string | null {
    const end = this.bytes.indexOf(QUOTE, start + 1)
    if (end < 0 || end - start > ID_BYTES_MAX) return null
    const id = this.bytes.toString('utf8', start + 1, end)
    return id.includes('\\') ? null : id
  }

  /**
   * Returns the strings in the list at `start`. Returns null if the list is too long or has
   * elements of another kind.
   */
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
      const [start, end] = [this.starts[at] ?? 0, this.ends[at] ?? 0]
      // A key that precedes the latest key of the level above belongs to an earlier object.
      if (end === 0 || (above > 0 && start < (this.ends[above] as number))) continue
      const index = above === 0 && this.element >= 0 ? `[${this.element}]` : '[]'
      path += index.repeat(at - above - 1)
      path += `.${this.nameInPath(start, end)}`
      above = at
    }
    return path.slice(0, PATH_LENGTH_MAX)
  }

  /** Returns a key, or the beginning of a long key, which is read again for each path with it. */
  private nameInPath(start: number, end: number): string {
    if (end - start <= PATH_LENGTH_MAX) return this.textAt(start, end)
    return this.bytes.toString('utf8', start + 1, start + PATH_LENGTH_MAX)
  }
}

const NO_NAMES: readonly Buffer[] = []
const PATH_LENGTH_MAX = 128

const unseparated = (key: string): string => foldedName(key).replaceAll(/[_-]/g, '')
