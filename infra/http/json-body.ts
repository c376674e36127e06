import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { httpError, invalidField } from './http-error-class-and-catalogue.ts'

const NUL = { zh: '不能包含 NUL 字符', en: 'must not contain a NUL character' }
const SURROGATE = {
  zh: '包含无效的 Unicode 字符',
  en: 'must not contain an incomplete Unicode character',
}
const RESERVED = { zh: '不允许的字段名', en: 'is not allowed as a name' }

/**
 * Throws a 400 for text that can't be stored (a NUL or half a surrogate pair) and for property
 * names that would change a prototype. `value` is parsed JSON of limited depth.
 */
export function rejectBadText(value: unknown, path: string): void {
  if (typeof value === 'string') rejectString(value, path)
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) rejectBadText(item, `${path}[${index}]`)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) rejectMember(key, item, path)
  }
}

function rejectMember(key: string, item: unknown, path: string): void {
  const isNested = path !== 'body' && path !== 'query' && path !== 'params'
  const name = isNested ? `${path}.${key}` : key
  if (key === '__proto__' || (key === 'constructor' && hasPrototype(item))) {
    throw invalidField(name, RESERVED)
  }
  rejectString(key, name)
  rejectBadText(item, name)
}

const hasPrototype = (item: unknown): boolean =>
  typeof item === 'object' && item !== null && Object.hasOwn(item, 'prototype')

function rejectString(text: string, path: string): void {
  // NOTE: the error message contains the property name, which may itself contain the bad text.
  const named = () => path.toWellFormed().replaceAll('\0', '�').slice(0, 200)
  if (text.includes('\0')) throw invalidField(named(), NUL)
  if (!text.isWellFormed()) throw invalidField(named(), SURROGATE)
}

/**
 * Makes the app accept only `application/json` bodies and check them before they are parsed. Other
 * content types get a 415.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJson(body),
  )
}

/**
 * Returns the value of a JSON body, or undefined for an empty body. Throws a 400 for an invalid
 * body.
 */
function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw httpError('InvalidText')
  const text = body.toString('utf8')
  checkJsonLimits(text)
  const value = parsed(text)
  rejectBadText(value, 'body')
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw httpError('InvalidJson')
  }
}

const DEPTH_MAX = 64
const VALUES_MAX = 50_000
const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/**
 * A list or an object that is still open at the current character. A list is `false`. An object is
 * the set of the property names that it has so far, or null before the first one.
 */
type Level = Set<string> | null | false

/**
 * Scans JSON text before it is parsed. Throws a 400 for nesting beyond 64 levels or more than
 * 50,000 values, because such a text would block the event loop. Also throws a 400 for a duplicate
 * property name, because parsers treat duplicates differently. The parser reports all other faults
 * of the text.
 */
function checkJsonLimits(text: string): void {
  const levels: Level[] = []
  let values = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      const end = endOfString(text, index + 1)
      if (levels.at(-1) !== false && isKey(text, end)) noteKey(levels, text, index, end)
      index = end
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (levels.push(code === OPEN_LIST ? false : null) > DEPTH_MAX) throw httpError('TooDeep')
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      levels.pop()
    } else if (code === COMMA) {
      values += 1
      if (values > VALUES_MAX) throw httpError('TooManyValues')
    }
  }
}

/** Returns the index of the closing quote, or the length of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let from = start; ; ) {
    const end = text.indexOf('"', from)
    if (end < 0) return text.length
    let before = end
    while (before > start && text.charCodeAt(before - 1) === BACKSLASH) before -= 1
    if ((end - before) % 2 === 0) return end
    from = end + 1
  }
}

function isKey(text: string, end: number): boolean {
  let index = end + 1
  while (' \t\r\n'.includes(text[index] ?? 'x')) index += 1
  return text[index] === ':'
}

function noteKey(levels: Level[], text: string, start: number, end: number): void {
  const key = decoded(text.slice(start, end + 1))
  const keys = levels.at(-1)
  if (key === null || keys === undefined || keys === false) return
  if (keys === null) levels[levels.length - 1] = new Set([key])
  else if (keys.has(key)) throw invalidField(key.slice(0, 200), DUPLICATE)
  else keys.add(key)
}

const DUPLICATE = { zh: '重复出现', en: 'occurs twice' }

function decoded(quoted: string): string | null {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return JSON.parse(quoted) as string
  } catch {
    return null
  }
}
