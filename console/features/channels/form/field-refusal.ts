import { namedField } from '#console/ui/at-field.ts'

/** What the server refused of one field, in its words. */
export type FieldRefusal = {
  readonly field: (typeof FIELDS)[keyof typeof FIELDS]
  readonly text: string
}

const FIELDS = {
  base_url: 'baseUrl',
  group: 'groups',
  model_mapping: 'modelMapping',
  status_code_mapping: 'statusCodeMapping',
  param_override: 'paramOverride',
  setting: 'setting',
} as const

/** Null: it is of no field that can tell it beside itself. */
export function refusalOf(error: unknown): FieldRefusal | null {
  const named = namedField(error)
  if (named === null || !Object.hasOwn(FIELDS, named.field)) return null
  return { field: FIELDS[named.field as keyof typeof FIELDS], text: named.text }
}
