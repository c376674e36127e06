import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { CorrectionScope } from '#domain/corrections/events.ts'
import type { CorrectedRatios } from '#domain/pricing/charge-at-corrected-price.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { TIME_MAX } from '#read-api/contract/resource-field-definition.ts'
import type { CorrectedPrice } from '../contract/repricing-and-corrections.ts'

/**
 * The fields of a price, each with its name in the API and in the domain. The digest of a preview
 * uses this order.
 */
const MEMBERS = [
  ['model_ratio', 'model'],
  ['completion_ratio', 'completion'],
  ['cache_ratio', 'cacheRead'],
  ['create_cache_ratio', 'cacheWrite'],
  ['image_ratio', 'image'],
  ['audio_ratio', 'audio'],
  ['audio_completion_ratio', 'audioCompletion'],
  ['image_completion_ratio', 'imageCompletion'],
  ['model_price', 'price'],
  ['group_ratio', 'group'],
] as const satisfies readonly (readonly [keyof CorrectedPrice, keyof CorrectedRatios])[]

const decimal = Type.Optional(Type.String({ pattern: '^[0-9]{1,9}([.][0-9]{1,12})?$' }))
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const time = Type.Integer({ minimum: 0, maximum: TIME_MAX })

const PREVIEW = Compile(
  Type.Object({
    id: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    scope: Type.Object({
      model: Type.String({ minLength: 1, maxLength: 200 }),
      group: Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()]),
      from: time,
      to: time,
      price: Type.Object(Object.fromEntries(MEMBERS.map(([, member]) => [member, decimal]))),
      upTo: count,
      base: count,
    }),
  }),
)

/**
 * Converts the price in a request to the ratios of the domain. Throws if the request contains no
 * field of the price.
 */
export function priceChangeOf(price: CorrectedPrice): CorrectedRatios {
  const change = orderedChange((member) => {
    const name = MEMBERS.find(([, one]) => one === member)?.[0]
    return name === undefined ? undefined : price[name]
  })
  if (Object.keys(change).length > 0) return change
  throw invalidField('price', { zh: '至少填写一项', en: 'must have at least one member' })
}

const orderedChange = (
  read: (member: keyof CorrectedRatios) => string | undefined,
): CorrectedRatios =>
  Object.fromEntries(
    MEMBERS.flatMap(([, member]) => {
      const value = read(member)
      return value === undefined ? [] : [[member, value]]
    }),
  )

export type ConfirmedPreview = { readonly id: string; readonly scope: CorrectionScope }

export const encodePreview = ({ id, scope }: ConfirmedPreview): string =>
  Buffer.from(JSON.stringify({ id, scope })).toString('base64url')

/**
 * Decodes the text of a preview. Throws an HTTP error 400 that names the field if the text is not
 * from a preview.
 */
export function decodePreview(text: string): ConfirmedPreview {
  const parsed = parse(text)
  if (!PREVIEW.Check(parsed)) {
    throw invalidField('preview', { zh: '不是预览返回的内容', en: 'is not the text of a preview' })
  }
  const { id, scope } = parsed
  const { model, group, from, to, upTo, base } = scope
  const price = orderedChange((member) => (scope.price as CorrectedRatios)[member])
  return { id, scope: { model, group, from, to, price, upTo, base } }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return null
  }
}
