import { isNumber, isObject, type ParsedJson, parseJsonText } from '../shared/json-text.ts'
import type { ChannelTerms } from './events.ts'

export type TermsFault =
  | 'not-json'
  | 'duplicate-key'
  | 'too-deep'
  | 'not-object'
  | 'not-url'
  | 'not-text'
  | 'not-status'
  | 'mapping-circle'
  | 'mapping-too-deep'

/** `field` as on the wire; `name` the entry at fault. */
export type FaultyField = {
  readonly field: string
  readonly fault: TermsFault
  readonly name?: string
}

const MAPPING_DEPTH_MAX = 8

type Members = Exclude<ReturnType<typeof readObject>, FaultyField>

/** The first field that can't be right, or null. Empty texts are. */
export function faultyField(terms: ChannelTerms): FaultyField | null {
  return (
    faultyUrl(terms.baseUrl) ??
    faultyMapping(terms.modelMapping) ??
    faultyStatuses(terms.statusCodeMapping) ??
    faultyObject('setting', terms.setting) ??
    faultyObject('param_override', terms.paramOverride)
  )
}

/** The proxy that the channel's extra settings name, or an empty text. */
export function proxyOf({ setting }: ChannelTerms): string {
  const members = readObject('setting', setting)
  const proxy = members instanceof Map ? members.get('proxy') : ''
  return typeof proxy === 'string' ? proxy : ''
}

function faultyUrl(baseUrl: string): FaultyField | null {
  if (baseUrl === '') return null
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  const isPlain = isWeb && url.username === '' && url.password === '' && !/[\s\\]/.test(baseUrl)
  return isPlain ? null : { field: 'base_url', fault: 'not-url' }
}

function readObject(field: string, text: string) {
  const parsed: ParsedJson = text.trim() === '' ? { value: new Map() } : parseJsonText(text)
  if ('fault' in parsed) return { field, ...parsed }
  return isObject(parsed.value) ? parsed.value : ({ field, fault: 'not-object' } as const)
}

function faultyObject(field: string, text: string): FaultyField | null {
  const members = readObject(field, text)
  return members instanceof Map ? null : (members as FaultyField)
}

/** Names map to names, by way of at most 8 others and never in a circle. */
function faultyMapping(text: string): FaultyField | null {
  const field = 'model_mapping'
  const members = readObject(field, text)
  if (!(members instanceof Map)) return members as FaultyField
  for (const [name, target] of members as Members) {
    if (typeof target !== 'string' || target === '') return { field, fault: 'not-text', name }
    const fault = chainFault(name, members as Members)
    if (fault !== null) return { field, fault, name }
  }
  return null
}

function chainFault(start: string, mapping: Members): TermsFault | null {
  const seen = new Set([start])
  let name = start
  for (;;) {
    const next = mapping.get(name)
    if (typeof next !== 'string' || next === name) return null
    if (seen.has(next)) return 'mapping-circle'
    seen.add(next)
    if (seen.size > MAPPING_DEPTH_MAX + 1) return 'mapping-too-deep'
    name = next
  }
}

/** What callers see must stay an error: targets are 400 to 599. */
function faultyStatuses(text: string): FaultyField | null {
  const field = 'status_code_mapping'
  const members = readObject(field, text)
  if (!(members instanceof Map)) return members as FaultyField
  for (const [name, target] of members as Members) {
    const digits = typeof target === 'string' ? target : isNumber(target) ? target.numberText : ''
    const isRight = /^[1-5]\d\d$/.test(name) && /^[45]\d\d$/.test(digits)
    if (!isRight) return { field, fault: 'not-status', name }
  }
  return null
}
