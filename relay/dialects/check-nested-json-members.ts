import { foldedName } from '#domain/shared/fold-json-member-names.ts'
import { type JsonKind, kindOf } from './scan-json-tokens.ts'

/** The JSON kinds that one member may have in each object of an array. */
type NestedMemberRule = {
  readonly key: string
  /** The key's bytes in JSON, with quotes. */
  readonly quoted: Buffer
  readonly kinds: readonly JsonKind[]
}

/** The rules for the objects in the top-level array `array`. */
export type NestedMemberRules = {
  readonly array: string
  readonly rules: readonly NestedMemberRule[]
}

/**
 * Creates the rules for the objects in the top-level array `array`. `kinds` contains the allowed
 * JSON kinds of each member, by its key.
 */
export const nestedMemberRules = (
  array: string,
  kinds: Readonly<Record<string, readonly JsonKind[]>>,
): NestedMemberRules => ({
  array,
  rules: Object.entries(kinds).map(([key, of]) => ({
    ...{ key, kinds: of },
    quoted: Buffer.from(JSON.stringify(key)),
  })),
})

/**
 * Receives the nested objects of a JSON text while the text is scanned. Positions are byte offsets.
 */
export type ObjectVisitor = {
  readonly begin: (key: string) => void
  readonly visits: (depth: number) => boolean
  readonly enter: (depth: number, at: number) => void
  /**
   * Called for each member of a visited object. An object is visited if `visits` returns true for
   * the object's depth. The key is between `start` and `end`, and the value begins at `valueAt`.
   * `isRuled` is true if a rule exists for the member.
   */
  readonly member: (
    depth: number,
    start: number,
    end: number,
    valueAt: number,
    isRuled: boolean,
  ) => void
  readonly leave: (depth: number, end: number) => void
  /** Called at the end of an array that contains values other than objects. */
  readonly mixedArray: (depth: number) => void
}

/**
 * A member with an ambiguous name: the member repeats the member `other`, or a provider may read
 * its name as `other`. For example, `[0].Role` may be read as `[0].role`.
 */
export type Ambiguity = { readonly path: string; readonly other: string }

/** A member whose value has none of the allowed JSON kinds. `path` is a path such as `[0].role`. */
export type Misfit = { readonly path: string; readonly kinds: readonly JsonKind[] }

/** Checks the members of the objects in one array against rules, while the bytes are scanned. */
export class NestedMemberCheck {
  /** True while the scanner is inside the array to which the rules apply. */
  isActive = false
  /** The first member that breaks a rule; null if there is none. */
  misfit: Misfit | null = null
  /**
   * The first member that repeats a member with a rule, or that a provider may read as a member
   * with a rule. Null if there is none.
   */
  ambiguity: Ambiguity | null = null
  private readonly bytes: Buffer
  private readonly array: string | null
  private readonly rules: readonly NestedMemberRule[]
  private element = -1
  /** The members with a rule that the current object already has, as one bit per rule. */
  private seen = 0

  constructor(bytes: Buffer, inner: NestedMemberRules | null) {
    this.bytes = bytes
    this.array = inner?.array ?? null
    this.rules = inner?.rules ?? []
  }

  begin(key: string): void {
    this.isActive = key === this.array
    this.misfit = null
    this.ambiguity = null
    this.element = -1
  }

  nextElement(): void {
    this.element += 1
    this.seen = 0
  }

  /**
   * Checks the member whose key is between `start` and `end` and whose value begins at `valueAt`.
   * Returns true if a rule exists for the key.
   */
  check(start: number, end: number, valueAt: number): boolean {
    const { rules } = this
    for (let index = 0; index < rules.length; index += 1) {
      const { quoted } = rules[index] as NestedMemberRule
      if (quoted.length === end - start && isAt(this.bytes, start, quoted)) {
        this.checkRule(index, valueAt)
        return true
      }
    }
    if (isUnusual(this.bytes, start, end)) this.checkUnusual(start, end, valueAt)
    return false
  }

  private checkRule(index: number, valueAt: number): void {
    const { key, kinds } = this.rules[index] as NestedMemberRule
    const bit = 1 << index
    if ((this.seen & bit) !== 0) this.ambiguity ??= { path: this.pathOf(key), other: key }
    this.seen |= bit
    const kind = kindOf(this.bytes[valueAt] ?? -1)
    if (kind !== null && !kinds.includes(kind)) this.misfit ??= { path: this.pathOf(key), kinds }
  }

  /** Checks a key that contains escapes, capital letters or non-ASCII characters. */
  private checkUnusual(start: number, end: number, valueAt: number): void {
    const key = JSON.parse(this.bytes.toString('utf8', start, end)) as string
    const folded = foldedName(key)
    const index = this.rules.findIndex((rule) => foldedName(rule.key) === folded)
    const rule = this.rules[index]
    if (rule === undefined) return
    if (rule.key === key) return this.checkRule(index, valueAt)
    this.ambiguity ??= { path: this.pathOf(key.slice(0, KEY_LENGTH_SHOWN)), other: rule.key }
  }

  private pathOf(key: string): string {
    return `[${this.element}].${key}`
  }
}

const KEY_LENGTH_SHOWN = 64
const BACKSLASH = 92

/**
 * Reports whether a JSON string contains escapes, capital letters or non-ASCII characters. Only
 * such a string may differ from its folded form. `start` and `end` include the quotes.
 */
export function isUnusual(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] as number
    if (byte >= 128 || byte === BACKSLASH || (byte >= 65 && byte <= 90)) return true
  }
  return false
}

/**
 * Reports whether the bytes at `start` equal `pattern`. A loop is faster than `Buffer.compare` for
 * a few bytes.
 */
export function isAt(bytes: Buffer, start: number, pattern: Buffer): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    if (bytes[start + at] !== pattern[at]) return false
  }
  return true
}
