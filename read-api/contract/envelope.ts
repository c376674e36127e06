import Type, { type Static, type TSchema } from 'typebox'

/** Every answer of `/api`: `data` is null where a call has nothing to say but its success. */
export const Envelope = <T extends TSchema>(data: T) =>
  Type.Object({ success: Type.Boolean(), message: Type.String(), data })

export const Refused = Type.Object({
  success: Type.Literal(false),
  message: Type.String(),
  /** Stable, for programs: `InsufficientQuota`. */
  code: Type.String(),
  data: Type.Null(),
})
export type Refused = Static<typeof Refused>

/** Lists: `page` counts from 0, as `p` does. */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), page: Type.Integer(), total: Type.Integer() })

/** `p` from 0; `page_size` (or its other name `size`) 1 to 100. */
export const PageQuery = {
  p: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' })),
  page_size: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
  size: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
}
