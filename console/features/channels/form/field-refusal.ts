import { ApiError } from '#console/api/api-error.ts'

/** What the server refused of one field, in its words. */
export type FieldRefusal = { readonly field: 'baseUrl' | 'groups'; readonly text: string }

const FIELDS = { base_url: 'baseUrl', group: 'groups' } as const
const NAMED = /^(?:参数 (\w+) 无效：|Invalid field (\w+): )/

/** Null: it is of no field that can tell it beside itself. */
export function refusalOf(error: unknown): FieldRefusal | null {
  if (!(error instanceof ApiError)) return null
  const named = NAMED.exec(error.message)
  const name = named?.[1] ?? named?.[2] ?? ''
  if (!Object.hasOwn(FIELDS, name)) return null
  const field = FIELDS[name as keyof typeof FIELDS]
  return { field, text: error.message.replace(NAMED, '') }
}
