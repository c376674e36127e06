import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkJsonLimits } from './check-json-limits.ts'
import { httpError, invalidField } from './http-errors.ts'

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
