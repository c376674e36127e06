import Type, { type Static } from 'typebox'

/**
 * The address whose models are listed. Without `key`, the stored key of channel `id` is used, and
 * only at the address that it was saved for.
 */
export const FetchModels = Type.Object({
  base_url: Type.Optional(Type.Union([Type.String({ maxLength: 2000 }), Type.Null()])),
  type: Type.Integer({ minimum: 0, maximum: 1000 }),
  /** Only the first line is used. */
  key: Type.Optional(Type.String({ maxLength: 500000 })),
  id: Type.Optional(Type.Integer({ minimum: 1, maximum: 999999999999999 })),
  other: Type.Optional(Type.Union([Type.String({ maxLength: 20000 }), Type.Null()])),
  setting: Type.Optional(Type.Union([Type.String({ maxLength: 100000 }), Type.Null()])),
})
export type FetchModels = Static<typeof FetchModels>
