import { innerRules } from '../inner-kinds.ts'
import type { JsonKind } from '../json-bytes.ts'
import type { Member } from '../json-scan.ts'

const FLAG: readonly JsonKind[] = ['true', 'false']

/**
 * What the fields must be at least, by their first byte. Only what no version of the API could
 * mean is refused: values and new fields are the provider's affair. null is like absent.
 */
const FIELDS: ReadonlyMap<string, readonly JsonKind[]> = new Map<string, readonly JsonKind[]>([
  ['tools', ['array']],
  ['tool_choice', ['string', 'object']],
  ['parallel_tool_calls', FLAG],
  ['functions', ['array']],
  ['function_call', ['string', 'object']],
  ['response_format', ['object']],
  ['stop', ['string', 'array']],
  ['seed', ['number']],
  ['logprobs', FLAG],
  ['top_logprobs', ['number']],
  ['logit_bias', ['object']],
  ['modalities', ['array']],
  ['metadata', ['object']],
  ['user', ['string']],
])
export const FIELD_NAMES = FIELDS.keys().toArray()
const LISTS_OF_OBJECTS = new Set(['tools', 'functions'])

export const MESSAGE_RULES = innerRules('messages', {
  role: ['string'],
  content: ['string', 'array', 'null'],
  name: ['string', 'null'],
  tool_calls: ['array', 'null'],
  tool_call_id: ['string', 'null'],
})

/** Whether a field is of a kind that it can never be. */
export function isMisfit({ key, kind, isAllObjects }: Member): boolean {
  const kinds = FIELDS.get(key)
  if (kinds === undefined || kind === 'null') return false
  return !kinds.includes(kind) || (LISTS_OF_OBJECTS.has(key) && !isAllObjects)
}
