import { isStatusMapping, mappingError } from '#read-api/contract/channel-fields.ts'
import type { JSON_FIELDS } from './channel-draft.ts'

type JsonFieldName = (typeof JSON_FIELDS)[number]

export type JsonFault =
  | 'notJson'
  | 'notObject'
  | 'mappingInvalid'
  | 'mappingCircle'
  | 'statusInvalid'
  | 'proxyInvalid'
  | 'includeUsageInvalid'
  | 'allowedMembersInvalid'

type Members = Readonly<Record<string, unknown>>

/** Checks a JSON field by the server's rules. An empty text is valid. */
export function jsonFault(field: JsonFieldName, text: string): JsonFault | null {
  const fault = objectFault(text)
  return fault ?? (text.trim() === '' ? null : MEMBER_FAULTS[field](JSON.parse(text)))
}

const MEMBER_FAULTS: Record<JsonFieldName, (members: Members) => JsonFault | null> = {
  modelMapping: modelMappingFault,
  statusCodeMapping: (members) =>
    Object.entries(members).every(isStatusPair) ? null : 'statusInvalid',
  paramOverride: () => null,
  setting: (members) =>
    proxyFault(members.proxy ?? '') ??
    includeUsageFault(members.include_usage) ??
    allowedMembersFault(members.allowed_members),
}

function modelMappingFault(members: Members): JsonFault | null {
  const mapping = new Map(Object.entries(members))
  for (const target of mapping.values()) {
    if (typeof target !== 'string' || target === '') return 'mappingInvalid'
  }
  const isFaulty = (start: string) => mappingError(start, (name) => mapping.get(name)) !== null
  return [...mapping.keys()].some(isFaulty) ? 'mappingCircle' : null
}

const isStatusPair = ([from, to]: [string, unknown]): boolean =>
  (typeof to === 'string' || typeof to === 'number') && isStatusMapping(from, String(to))

function proxyFault(proxy: unknown): 'proxyInvalid' | null {
  if (typeof proxy !== 'string') return 'proxyInvalid'
  if (proxy.trim() === '') return null
  const url = URL.parse(proxy)
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  const isRight = isWeb && url?.pathname === '/' && !/[?#\\]/.test(proxy)
  return isRight ? null : 'proxyInvalid'
}

const includeUsageFault = (chosen: unknown): 'includeUsageInvalid' | null =>
  typeof (chosen ?? false) === 'boolean' ? null : 'includeUsageInvalid'

const allowedMembersFault = (names: unknown): 'allowedMembersInvalid' | null =>
  Array.isArray(names ?? []) &&
  ((names ?? []) as unknown[]).every((name) => typeof name === 'string')
    ? null
    : 'allowedMembersInvalid'

/**
 * Returns the error of a text that is not a JSON object. Other JSON values are errors, although the
 * specification permits them.
 */
export function objectFault(text: string): 'notJson' | 'notObject' | null {
  if (text.trim() === '') return null
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? null : 'notObject'
  } catch {
    return 'notJson'
  }
}

export const membersBut = (known: readonly string[], text: string): readonly string[] =>
  text.trim() === '' || objectFault(text) !== null
    ? []
    : Object.keys(JSON.parse(text)).filter((name) => !known.includes(name))
