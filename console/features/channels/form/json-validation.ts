import { isStatusMapping, mappingError } from '#read-api/contract/channel-fields.ts'
import type { JSON_FIELDS } from './channel-draft.ts'

type JsonFieldName = (typeof JSON_FIELDS)[number]

export type JsonErrorKey =
  | 'notJson'
  | 'notObject'
  | 'mappingInvalid'
  | 'mappingCircle'
  | 'statusInvalid'
  | 'proxyInvalid'
  | 'includeUsageInvalid'
  | 'allowedMembersInvalid'

type Members = Readonly<Record<string, unknown>>

export function validateJson(field: JsonFieldName, text: string): JsonErrorKey | null {
  const errorKey = validateJsonObject(text)
  return errorKey ?? (text.trim() === '' ? null : MEMBER_VALIDATORS[field](JSON.parse(text)))
}

const MEMBER_VALIDATORS: Record<JsonFieldName, (members: Members) => JsonErrorKey | null> = {
  modelMapping: validateModelMapping,
  statusCodeMapping: (members) =>
    Object.entries(members).every(isStatusPair) ? null : 'statusInvalid',
  paramOverride: () => null,
  setting: (members) =>
    validateProxy(members.proxy ?? '') ??
    validateIncludeUsage(members.include_usage) ??
    validateAllowedMembers(members.allowed_members),
}

function validateModelMapping(members: Members): JsonErrorKey | null {
  const mapping = new Map(Object.entries(members))
  for (const target of mapping.values()) {
    if (typeof target !== 'string' || target === '') return 'mappingInvalid'
  }
  const isInvalid = (start: string) => mappingError(start, (name) => mapping.get(name)) !== null
  return [...mapping.keys()].some(isInvalid) ? 'mappingCircle' : null
}

const isStatusPair = ([from, to]: [string, unknown]): boolean =>
  (typeof to === 'string' || typeof to === 'number') && isStatusMapping(from, String(to))

function validateProxy(proxy: unknown): 'proxyInvalid' | null {
  if (typeof proxy !== 'string') return 'proxyInvalid'
  if (proxy.trim() === '') return null
  const url = URL.parse(proxy)
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  const isValidProxy = isWeb && url?.pathname === '/' && !/[?#\\]/.test(proxy)
  return isValidProxy ? null : 'proxyInvalid'
}

const validateIncludeUsage = (value: unknown): 'includeUsageInvalid' | null =>
  typeof (value ?? false) === 'boolean' ? null : 'includeUsageInvalid'

const validateAllowedMembers = (names: unknown): 'allowedMembersInvalid' | null =>
  Array.isArray(names ?? []) &&
  ((names ?? []) as unknown[]).every((name) => typeof name === 'string')
    ? null
    : 'allowedMembersInvalid'

/** Returns an error key, or null if the text is empty or a JSON object. */
export function validateJsonObject(text: string): 'notJson' | 'notObject' | null {
  if (text.trim() === '') return null
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? null : 'notObject'
  } catch {
    return 'notJson'
  }
}

export const unknownMembers = (knownMembers: readonly string[], text: string): readonly string[] =>
  text.trim() === '' || validateJsonObject(text) !== null
    ? []
    : Object.keys(JSON.parse(text)).filter((name) => !knownMembers.includes(name))
