import { foldedName } from '#domain/shared/folded-name.ts'
import { type JsonKind, kindOf } from './json-bytes.ts'

/** Of which kinds a member of an object may be. */
type InnerRule = {
  readonly key: string
  /** The key as it stands in the bytes, with its quotes. */
  readonly quoted: Buffer
  readonly kinds: readonly JsonKind[]
}

/** What the objects in one array of the outermost object may have. */
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

/** Looks at objects inside of the outermost one while the bytes are scanned. Places are offsets. */
export type ObjectVisitor = {
  /** At the value of a member of the outermost object. */
  readonly begin: (key: string) => void
  /** Whether the object that begins, nested so deep, is looked at. */
  readonly visits: (depth: number) => boolean
  readonly enter: (depth: number, at: number) => void
  /** At the value of one of its members. `isRuled`: there is a rule for it. */
  readonly member: (
    depth: number,
    start: number,
    end: number,
    valueAt: number,
    isRuled: boolean,
  ) => void
  readonly leave: (depth: number, end: number) => void
  /** At the end of an array whose elements are not all objects. */
  readonly oddArray: (depth: number) => void
}

/** A member, as `[0].Role`, that a provider may read as the one called `other`, or twice. */
export type Ambiguity = { readonly path: string; readonly other: string }

/** Looks at the members of those objects while the bytes are scanned. */
export class InnerCheck {
  /** Inside of the array that has rules. */
  isOn = false
  /** The first member of an element that breaks them, as `[0].role`; null: none. */
  misfit: string | null = null
  /** The first member of an element that can be taken for one of those with rules; null: none. */
  ambiguity: Ambiguity | null = null
  private readonly bytes: Buffer
  private readonly array: string | null
  private readonly rules: readonly InnerRule[]
  private element = -1
  /** One bit for each of the rules: whether the element has such a member. */
  private seen = 0

  constructor(bytes: Buffer, inner: InnerRules | null) {
    this.bytes = bytes
    this.array = inner?.array ?? null
    this.rules = inner?.rules ?? []
  }

  /** At the value of a member of the outermost object. */
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

  /** At the value, at `valueAt`, of the key between `start` and `end`: whether it has a rule. */
  look(start: number, end: number, valueAt: number): boolean {
    const { rules } = this
    for (let index = 0; index < rules.length; index += 1) {
      const { quoted } = rules[index] as InnerRule
      if (quoted.length === end - start && isAt(this.bytes, start, quoted)) {
        this.lookAt(index, valueAt)
        return true
      }
    }
    if (isUnusual(this.bytes, start, end)) this.lookClosely(start, end, valueAt)
    return false
  }

  private lookAt(index: number, valueAt: number): void {
    const { key, kinds } = this.rules[index] as InnerRule
    const bit = 1 << index
    if ((this.seen & bit) !== 0) this.ambiguity ??= { path: this.pathOf(key), other: key }
    this.seen |= bit
    const kind = kindOf(this.bytes[valueAt] ?? -1)
    if (kind !== null && !kinds.includes(kind)) this.misfit ??= this.pathOf(key)
  }

  /** The key has escapes, capital letters or others than ASCII has. */
  private lookClosely(start: number, end: number, valueAt: number): void {
    const key = JSON.parse(this.bytes.toString('utf8', start, end)) as string
    const folded = foldedName(key)
    const index = this.rules.findIndex((rule) => foldedName(rule.key) === folded)
    const rule = this.rules[index]
    if (rule === undefined) return
    if (rule.key === key) return this.lookAt(index, valueAt)
    this.ambiguity ??= { path: this.pathOf(key.slice(0, KEY_LENGTH_SHOWN)), other: rule.key }
  }

  private pathOf(key: string): string {
    return `[${this.element}].${key}`
  }
}

const KEY_LENGTH_SHOWN = 64
const BACKSLASH = 92

/** Whether the text between the quotes at `start` and before `end` may be another one folded. */
export function isUnusual(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] as number
    if (byte >= 128 || byte === BACKSLASH || (byte >= 65 && byte <= 90)) return true
  }
  return false
}

/** Byte by byte: for so few of them a call of `compare` takes longer. */
export function isAt(bytes: Buffer, start: number, pattern: Buffer): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    if (bytes[start + at] !== pattern[at]) return false
  }
  return true
}
