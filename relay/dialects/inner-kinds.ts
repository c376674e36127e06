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

/** Looks at the members of those objects while the bytes are scanned. */
export class InnerCheck {
  /** Inside of the array that has rules. */
  isOn = false
  /** The first member of an element that breaks them, as `[0].role`; null: none. */
  misfit: string | null = null
  private readonly bytes: Buffer
  private readonly inner: InnerRules | null
  private element = -1

  constructor(bytes: Buffer, inner: InnerRules | null) {
    this.bytes = bytes
    this.inner = inner
  }

  /** At the value of a member of the outermost object. */
  begin(key: string): void {
    this.isOn = key === this.inner?.array
    this.misfit = null
  }

  nextElement(): void {
    this.element += 1
  }

  /** At the value, at `valueAt`, of the key between `start` and `end`. */
  look(start: number, end: number, valueAt: number): void {
    if (this.misfit !== null) return
    for (const { key, quoted, kinds } of this.inner?.rules ?? []) {
      if (quoted.length !== end - start || !isAt(this.bytes, start, quoted)) continue
      const kind = kindOf(this.bytes[valueAt] ?? -1)
      if (kind !== null && !kinds.includes(kind)) this.misfit = `[${this.element}].${key}`
      return
    }
  }
}

/** Byte by byte: for so few of them a call of `compare` takes longer. */
function isAt(bytes: Buffer, start: number, pattern: Buffer): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    if (bytes[start + at] !== pattern[at]) return false
  }
  return true
}
