import { foldedName } from '#domain/shared/fold-name-case.ts'
import { type JsonKind, kindOf } from './scan-json-tokens.ts'

/** A rule for one member of each object in an array: the JSON kinds that the member may have. */
type InnerRule = {
  readonly key: string
  /** The key as it appears in the JSON bytes, with its quotes. */
  readonly quoted: Buffer
  readonly kinds: readonly JsonKind[]
}

/** The rules for the objects in the top-level array with the name `array`. */
export type InnerRules = { readonly array: string; readonly rules: readonly InnerRule[] }

export const innerRules = (
  array: string,
  kinds: Readonly<Record<string, readonly JsonKind[]>>,
): InnerRules => ({
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
  /** Called for each member of a visited object. `isRuled` is true if the member has a rule. */
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
 * A member with an ambiguous name. It repeats the member `other`, or a provider may read it as
 * `other`. For example, `[0].Role` may be read as `[0].role`.
 */
export type Ambiguity = { readonly path: string; readonly other: string }

/** Checks the objects in one array against rules for their members while the bytes are scanned. */
export class InnerCheck {
  /** True while the scanner is inside the array to which the rules apply. */
  isOn = false
  /** The path of the first member that breaks a rule, such as `[0].role`; null if there is none. */
  misfit: string | null = null
  /** The first member that repeats a ruled member or may be read as one; null if there is none. */
  ambiguity: Ambiguity | null = null
  private readonly bytes: Buffer
  private readonly array: string | null
  private readonly rules: readonly InnerRule[]
  private element = -1
  /** The ruled members that the current object already has, as one bit per rule. */
  private seen = 0

  constructor(bytes: Buffer, inner: InnerRules | null) {
    this.bytes = bytes
    this.array = inner?.array ?? null
    this.rules = inner?.rules ?? []
  }

  begin(key: string): void {
    this.isOn = key === this.array
    this.misfit = null
    this.ambiguity = null
    this.element = -1
  }

  nextElement(): void {
    this.element += 1
    this.seen = 0
  }

  /**
   * Checks the key between `start` and `end`, whose value begins at `valueAt`. Returns true if a
   * rule exists for the key.
   */
  check(start: number, end: number, valueAt: number): boolean {
    const { rules } = this
    for (let index = 0; index < rules.length; index += 1) {
      const { quoted } = rules[index] as InnerRule
      if (quoted.length === end - start && isAt(this.bytes, start, quoted)) {
        this.checkRule(index, valueAt)
        return true
      }
    }
    if (isUnusual(this.bytes, start, end)) this.checkUnusual(start, end, valueAt)
    return false
  }

  private checkRule(index: number, valueAt: number): void {
    const { key, kinds } = this.rules[index] as InnerRule
    const bit = 1 << index
    if ((this.seen & bit) !== 0) this.ambiguity ??= { path: this.pathOf(key), other: key }
    this.seen |= bit
    const kind = kindOf(this.bytes[valueAt] ?? -1)
    if (kind !== null && !kinds.includes(kind)) this.misfit ??= this.pathOf(key)
  }

  /** Checks a key with escapes, capital letters or non-ASCII characters. */
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
 * Reports whether a JSON string has characters that case folding may change. `start` and `end`
 * include the string's quotes.
 */
export function isUnusual(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] as number
    if (byte >= 128 || byte === BACKSLASH || (byte >= 65 && byte <= 90)) return true
  }
  return false
}

/**
 * Reports whether the bytes at `start` equal `pattern`. A loop is used, because `Buffer.compare` is
 * slower for a few bytes.
 */
export function isAt(bytes: Buffer, start: number, pattern: Buffer): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    if (bytes[start + at] !== pattern[at]) return false
  }
  return true
}
