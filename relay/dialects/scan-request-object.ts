import { isUtf8 } from 'node:buffer'
import { foldedName, type NamesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import {
  type Ambiguity,
  isUnusual,
  type Misfit,
  NestedMemberCheck,
  type NestedMemberRules,
  type ObjectVisitor,
} from './check-nested-json-members.ts'
import {
  endOfNumber,
  endOfPlainText,
  escapeLength,
  type JsonKind,
  kindOf,
  type Words,
  wordsOf,
} from './scan-json-tokens.ts'

/** A member of the top-level object, with the byte offsets of its key and value. */
export type Member = {
  readonly key: string
  /** The key after case folding: see `foldedName`. */
  readonly folded: string
  readonly keyStart: number
  readonly valueStart: number
  readonly valueEnd: number
  readonly kind: JsonKind
  /**
   * The number of elements, if the value is an array. `isAllObjects` is true if all elements are
   * objects.
   */
  readonly length: number
  readonly isAllObjects: boolean
  /**
   * The first member in the array that breaks a rule. Null if there is none or the value is not an
   * array.
   */
  readonly misfit: Misfit | null
  /**
   * The first member in the array with an ambiguous name. Null if there is none or the value is not
   * an array.
   */
  readonly ambiguity: Ambiguity | null
}

type Cause =
  | ('malformed' | 'too-deep' | 'too-long' | 'too-wide' | 'too-many-keys' | 'key-too-long')
  | 'bad-text'

/**
 * The reason why a JSON text is invalid. `at` is the byte offset of the fault, or the length of the
 * bytes if they end too early.
 */
export type InvalidJson =
  | { readonly error: Cause; readonly at: number }
  | { readonly error: 'not-utf8' | 'not-an-object' }
  | { readonly error: 'duplicate'; readonly key: string }
  /** The key has the same folded form as `other`, which is another member's key or a known name. */
  | { readonly error: 'ambiguous'; readonly key: string; readonly other: string }

export const DEPTH_MAX = 64
export const VALUES_MAX = 1_000_000
/**
 * The maximum number of keys in all nested objects of the body together. It is limited because
 * parsing objects with many different keys is slow.
 */
export const KEYS_MAX = 200_000
/**
 * The maximum length of a key in bytes. No API has keys as long as this. Many tables look keys up,
 * and V8 hashes texts of more than 16 383 characters by their length only, so that many long keys
 * would be compared in pairs.
 */
export const KEY_BYTES_MAX = 4_096
/**
 * The maximum number of members of the top-level object. All request formats define far fewer
 * members.
 */
export const MEMBERS_MAX = 256

const NO_NAMES: NamesByFoldedName = new Map()

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const COLON = 58
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93

/**
 * Returns the top-level members of a JSON object, or the reason why the bytes are not one valid
 * JSON object with unambiguous names. Nothing is parsed into objects. The depth, the numbers of
 * members and values and the length of keys are limited, so that no body can block the event loop
 * for long.
 */
export function scanObject(
  bytes: Buffer,
  known: NamesByFoldedName = NO_NAMES,
  inner: NestedMemberRules | null = null,
  visitor: ObjectVisitor | null = null,
): readonly Member[] | InvalidJson {
  if (!isUtf8(bytes)) return { error: 'not-utf8' }
  const scanner = new Scanner(bytes, known, inner, visitor)
  scanner.skipSpace()
  if (scanner.byte() !== OPEN_BRACE) {
    return scanner.isValid() ? { error: 'not-an-object' } : scanner.currentError()
  }
  const members = scanner.outermost()
  if (!Array.isArray(members)) return members as InvalidJson
  return scanner.isAtEnd() ? members : scanner.currentError()
}

class Scanner {
  private error: Cause | null = null
  private readonly bytes: Buffer
  private readonly words: Words
  private at = 0
  private values = 0
  private keys = 0
  private elements = 0
  private isAllObjects = true
  private readonly known: NamesByFoldedName
  private readonly inner: NestedMemberCheck
  private readonly visitor: ObjectVisitor | null

  constructor(
    bytes: Buffer,
    known: NamesByFoldedName,
    inner: NestedMemberRules | null,
    visitor: ObjectVisitor | null,
  ) {
    this.bytes = bytes
    this.words = wordsOf(bytes)
    this.known = known
    this.inner = new NestedMemberCheck(bytes, inner)
    this.visitor = visitor
  }

  byte(): number {
    return this.bytes[this.at] ?? -1
  }

  skipSpace(): void {
    const { bytes } = this
    let at = this.at
    let byte = bytes[at]
    while (byte === 32 || byte === 10 || byte === 13 || byte === 9) {
      at += 1
      byte = bytes[at]
    }
    this.at = at
  }

  isAtEnd(): boolean {
    this.skipSpace()
    return this.at === this.bytes.length
  }

  currentError(): InvalidJson {
    return { error: this.error ?? 'malformed', at: this.at }
  }

  isValid(): boolean {
    return this.value(0) && this.isAtEnd()
  }

  outermost(): Member[] | InvalidJson {
    const members: Member[] = []
    this.at += 1
    this.skipSpace()
    if (this.byte() === CLOSE_BRACE) {
      this.at += 1
      return members
    }
    for (;;) {
      const member = this.member()
      if (member === null) return this.currentError()
      const clash = this.clashOf(member, members)
      if (clash !== null) return clash
      if (members.length === MEMBERS_MAX) return { error: 'too-wide', at: member.keyStart }
      members.push(member)
      const byte = this.byte()
      if (byte !== COMMA && byte !== CLOSE_BRACE) return this.currentError()
      this.at += 1
      if (byte === CLOSE_BRACE) return members
      this.skipSpace()
    }
  }

  private clashOf({ key, folded }: Member, earlier: readonly Member[]): InvalidJson | null {
    const same = earlier.find((member) => member.folded === folded)
    if (same?.key === key) return { error: 'duplicate', key }
    const other = this.known.get(folded) ?? same?.key
    return other === undefined || other === key ? null : { error: 'ambiguous', key, other }
  }

  private member(): Member | null {
    const keyStart = this.at
    if (this.byte() !== QUOTE || !this.key()) return null
    const key = this.keyAt(keyStart, this.at)
    if (!this.colon()) return null
    const valueStart = this.at
    const kind = kindOf(this.byte())
    this.inner.begin(key)
    this.visitor?.begin(key)
    if (kind === null || !this.value(1)) return null
    const valueEnd = this.at
    this.skipSpace()
    return {
      key,
      folded: foldedName(key),
      keyStart,
      valueStart,
      valueEnd,
      kind,
      length: this.elements,
      isAllObjects: this.isAllObjects,
      misfit: this.inner.misfit,
      ambiguity: this.inner.ambiguity,
    }
  }

  private keyAt(start: number, end: number): string {
    if (!isUnusual(this.bytes, start, end)) return this.bytes.toString('latin1', start + 1, end - 1)
    return JSON.parse(this.bytes.toString('utf8', start, end)) as string
  }

  private colon(): boolean {
    this.skipSpace()
    if (this.byte() !== COLON) return this.fail('malformed')
    this.at += 1
    this.skipSpace()
    return true
  }

  private value(depth: number): boolean {
    this.values += 1
    if (this.values > VALUES_MAX) return this.fail('too-long')
    const byte = this.byte()
    if (byte === QUOTE) return this.text()
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth >= DEPTH_MAX) return this.fail('too-deep')
      return byte === OPEN_BRACE ? this.object(depth) : this.array(depth)
    }
    if (byte === 116) return this.word('true')
    if (byte === 102) return this.word('false')
    if (byte === 110) return this.word('null')
    return this.number()
  }

  private object(depth: number): boolean {
    const inner = depth === 2 && this.inner.isActive ? this.inner : null
    const visitor = this.visitor?.visits(depth) ? this.visitor : null
    inner?.nextElement()
    visitor?.enter(depth, this.at)
    this.at += 1
    this.skipSpace()
    if (this.byte() === CLOSE_BRACE) {
      visitor?.leave(depth, this.at + 1)
      return this.step()
    }
    for (;;) {
      if (this.byte() !== QUOTE) return this.fail('malformed')
      if (++this.keys > KEYS_MAX) return this.fail('too-many-keys')
      const start = this.at
      if (!this.key()) return false
      const end = this.at
      if (!this.colon()) return false
      const isRuled = inner?.check(start, end, this.at) ?? false
      visitor?.member(depth, start, end, this.at, isRuled)
      if (!this.value(depth + 1)) return false
      this.skipSpace()
      const byte = this.byte()
      if (byte !== COMMA && byte !== CLOSE_BRACE) return this.fail('malformed')
      this.at += 1
      if (byte === CLOSE_BRACE) {
        visitor?.leave(depth, this.at)
        return true
      }
      this.skipSpace()
    }
  }

  private array(depth: number): boolean {
    let count = 0
    let isAllObjects = true
    this.at += 1
    this.skipSpace()
    if (this.byte() === CLOSE_BRACKET) {
      this.at += 1
    } else {
      for (;;) {
        count += 1
        if (this.byte() !== OPEN_BRACE) isAllObjects = false
        if (!this.value(depth + 1)) return false
        this.skipSpace()
        const byte = this.byte()
        if (byte !== COMMA && byte !== CLOSE_BRACKET) return this.fail('malformed')
        this.at += 1
        if (byte === CLOSE_BRACKET) break
        this.skipSpace()
      }
    }
    if (!isAllObjects) this.visitor?.mixedArray(depth)
    this.elements = count
    this.isAllObjects = isAllObjects
    return true
  }

  private key(): boolean {
    const start = this.at
    if (!this.text()) return false
    return this.at - start <= KEY_BYTES_MAX || this.fail('key-too-long', start)
  }

  private text(): boolean {
    const { bytes, words } = this
    let at = this.at + 1
    for (;;) {
      at = endOfPlainText(words, at)
      const byte = bytes[at]
      if (byte === QUOTE) break
      if (byte === undefined || byte < 32) {
        return this.fail(byte === 0 ? 'bad-text' : 'malformed', at)
      }
      if (byte !== BACKSLASH) at += 1
      else {
        const length = escapeLength(bytes, at)
        if (length <= 0) return this.fail(length === 0 ? 'malformed' : 'bad-text', at)
        at += length
      }
    }
    this.at = at + 1
    return true
  }

  private number(): boolean {
    const end = endOfNumber(this.bytes, this.at)
    if (end < 0) return this.fail('malformed', -1 - end)
    this.at = end
    return true
  }

  private word(word: string): boolean {
    const end = this.at + word.length
    if (this.bytes.toString('latin1', this.at, end) !== word) return this.fail('malformed')
    this.at = end
    return true
  }

  private step(): true {
    this.at += 1
    return true
  }

  private fail(error: Cause, at = this.at): false {
    this.error ??= error
    this.at = at
    return false
  }
}
