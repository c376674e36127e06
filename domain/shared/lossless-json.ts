/** A lossless JSON value: a number is kept as text, and an object is a Map. */
export type ExactJson =
  | null
  | boolean
  | string
  | NumberText
  | readonly ExactJson[]
  | ReadonlyMap<string, ExactJson>

type NumberText = { readonly numberText: string }

type JsonErrorCode = 'not-json' | 'duplicate-key' | 'too-deep'

type ReservedName = { readonly error: 'name-reserved'; readonly name: string }

export type ParsedJson =
  | { readonly value: ExactJson }
  | { readonly error: JsonErrorCode; readonly name?: string }

const DEPTH_MAX = 16
const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y
const WORDS = new Map<string, ExactJson>([
  ['true', true],
  ['false', false],
  ['null', null],
])

export const isObject = (value: ExactJson): value is ReadonlyMap<string, ExactJson> =>
  value instanceof Map

export const isNumber = (value: ExactJson): value is NumberText =>
  typeof value === 'object' && value !== null && 'numberText' in value

const RESERVED = '__proto__'

/**
 * Returns an error if the JSON contains the name `__proto__`. JavaScript code could lose a member
 * with this name, or change an object's prototype. The HTTP server also refuses request bodies with
 * this name.
 */
export function reservedName(value: ExactJson): ReservedName | null {
  const isNamed = isObject(value)
  if (isNamed && value.has(RESERVED)) return { error: 'name-reserved', name: RESERVED }
  const inner = isNamed ? [...value.values()] : Array.isArray(value) ? value : []
  for (const one of inner) {
    const error = reservedName(one)
    if (error !== null) return error
  }
  return null
}

class JsonSyntaxError extends Error {
  readonly code: JsonErrorCode
  readonly subject: string | undefined

  constructor(code: JsonErrorCode, subject?: string) {
    super(code)
    this.code = code
    this.subject = subject
  }
}

/**
 * Parses JSON losslessly. At most 16 levels are allowed, and the keys of an object must be unique.
 * The caller must limit the length of the text.
 */
export function parseJsonText(text: string): ParsedJson {
  try {
    const reader = new Reader(text)
    const value = reader.value(1)
    reader.end()
    return { value }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    const { code, subject } = error
    return subject === undefined ? { error: code } : { error: code, name: subject }
  }
}

class Reader {
  private at = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  value(depth: number): ExactJson {
    this.take(SPACE)
    if (depth > DEPTH_MAX) throw new JsonSyntaxError('too-deep')
    const first = this.text[this.at]
    if (first === '{') return this.object(depth)
    if (first === '[') return this.array(depth)
    if (first === '"') return this.string()
    const number = this.take(NUMBER)
    return number === '' ? this.word() : { numberText: number }
  }

  end(): void {
    this.take(SPACE)
    if (this.at < this.text.length) throw new JsonSyntaxError('not-json')
  }

  private object(depth: number): ExactJson {
    const members = new Map<string, ExactJson>()
    this.items('{', '}', () => {
      this.take(SPACE)
      const key = this.string()
      if (members.has(key)) throw new JsonSyntaxError('duplicate-key', key.slice(0, 100))
      this.take(SPACE)
      this.expect(':')
      members.set(key, this.value(depth + 1))
    })
    return members
  }

  private array(depth: number): ExactJson {
    const elements: ExactJson[] = []
    this.items('[', ']', () => elements.push(this.value(depth + 1)))
    return elements
  }

  private items(open: string, close: string, item: () => void): void {
    this.expect(open)
    this.take(SPACE)
    if (this.skip(close)) return
    do {
      item()
      this.take(SPACE)
    } while (this.skip(','))
    this.expect(close)
  }

  private string(): string {
    const quoted = this.take(STRING)
    try {
      return JSON.parse(quoted) as string
    } catch {
      throw new JsonSyntaxError('not-json')
    }
  }

  private word(): ExactJson {
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length
        return value
      }
    }
    throw new JsonSyntaxError('not-json')
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found = ''] = pattern.exec(this.text) ?? []
    this.at += found.length
    return found
  }

  private skip(character: string): boolean {
    if (this.text[this.at] !== character) return false
    this.at += 1
    return true
  }

  private expect(character: string): void {
    if (!this.skip(character)) throw new JsonSyntaxError('not-json')
  }
}

/** Indents JSON by two spaces without changing digits. Other text is returned unchanged. */
export function readableJson(text: string): string {
  const parsed = parseJsonText(text)
  return 'error' in parsed ? text : textOf(parsed.value, '\n')
}

/** Compares two JSON texts. White space is ignored, but the order of names matters. */
export const isSameJson = (one: string, other: string): boolean =>
  one === other || readableJson(one) === readableJson(other)

function textOf(value: ExactJson, newLine: string): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isNumber(value)) return value.numberText
  const inner = `${newLine}  `
  if (isObject(value)) {
    const members = [...value].map(([name, member]) => {
      return `${JSON.stringify(name)}: ${textOf(member, inner)}`
    })
    return enclosed('{', members, '}', newLine)
  }
  const elements = (value as readonly ExactJson[]).map((element) => textOf(element, inner))
  return enclosed('[', elements, ']', newLine)
}

function enclosed(open: string, items: string[], close: string, newLine: string): string {
  if (items.length === 0) return open + close
  return `${open}${newLine}  ${items.join(`,${newLine}  `)}${newLine}${close}`
}
