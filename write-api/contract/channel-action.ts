import Type, { type Static } from 'typebox'

/**
 * An address to ask for its models. Without `key` the channel `id` is asked with its own, which
 * goes nowhere but where it was given for.
 */
export const FetchModels = Type.Object({
  base_url: Type.Optional(Type.Union([Type.String({ maxLength: 2000 }), Type.Null()])),
  type: Type.Integer({ minimum: 0, maximum: 1000 }),
  /** The first line counts. */
  key: Type.Optional(Type.String({ maxLength: 500000 })),
  id: Type.Optional(Type.Integer({ minimum: 1, maximum: 999999999999999 })),
  other: Type.Optional(Type.Union([Type.String({ maxLength: 20000 }), Type.Null()])),
  setting: Type.Optional(Type.Union([Type.String({ maxLength: 100000 }), Type.Null()])),
})
export type FetchModels = Static<typeof FetchModels>
