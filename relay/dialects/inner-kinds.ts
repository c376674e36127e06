import { foldedName } from '#domain/shared/folded-name.ts'
import { type JsonKind, kindOf } from './json-bytes.ts'

/** The kinds of value that a member of an object may have. */
type InnerRule = {
  readonly key: string
  /** The key as it appears in the bytes, with its quotes. */
  readonly quoted: Buffer
  readonly kinds: readonly JsonKind[]
}

/** Rules for the objects in one array of the outermost object. */
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

/** Visits objects inside the outermost one while the bytes are scanned. Places are byte offsets. */
export type ObjectVisitor = {
  /** Called at the value of a member of the outermost object. */
  readonly begin: (key: string) => void
  /** Returns whether the object that begins at this depth is to be visited. */
  readonly visits: (depth: number) => boolean
  readonly enter: (depth: number, at: number) => void
  /**
   * Called at the value of one of the object's members. `isRuled` is true when a rule exists for
   * it.
   */
  readonly member: (
    depth: number,
    start: number,
    end: number,
    valueAt: number,
    isRuled: boolean,
  ) => void
  readonly leave: (depth: number, end: number) => void
  /** Called at the end of an array whose elements are not all objects. */
  readonly mixedArray: (depth: number) => void
}

/**
 * A member, such as `[0].Role`, that a provider may read as the member `other`, or that is
 * duplicated.
 */
export type Ambiguity = { readonly path: string; readonly other: string }

/** Checks the members of those objects while the bytes are scanned. */
export class InnerCheck {
  /** True inside the array that has rules. */
  isOn = false
  /**
   * The path of the first member of an element that breaks a rule, such as `[0].role`; null if none
   * does.
   */
  misfit: string | null = null
  /**
   * The first member of an element that may be taken for a member with a rule; null if none may.
   */
  ambiguity: Ambiguity | null = null
  private readonly bytes: Buffer
  private readonly array: string | null
  private readonly rules: readonly InnerRule[]
  private element = -1
  /** Has one bit per rule, which is set when the element contains that member. */
  private seen = 0

  constructor(bytes: Buffer, inner: InnerRules | null) {
    this.bytes = bytes
    this.array = inner?.array ?? null
    this.rules = inner?.rules ?? []
  }

  /** Called at the value of a member of the outermost object. */
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
   * Checks the key between `start` and `end` with its value at `valueAt`. Returns whether it has a
   * rule.
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
 * Reports whether the text between `start` and `end`, quotes included, may change when it is
 * folded.
 */
export function isUnusual(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] as number
    if (byte >= 128 || byte === BACKSLASH || (byte >= 65 && byte <= 90)) return true
  }
  return false
}

/** Compares byte by byte, because a call of `compare` takes longer for so few bytes. */
export function isAt(bytes: Buffer, start: number, pattern: Buffer): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    if (bytes[start + at] !== pattern[at]) return false
  }
  return true
}
