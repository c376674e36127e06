import Type, { type Static, type TSchema } from 'typebox'

/**
 * The form of every response of `/api`; `data` is null if a call has no other result than its
 * success.
 */
export const Envelope = <T extends TSchema>(data: T) =>
  Type.Object({ success: Type.Boolean(), message: Type.String(), data })

export const ErrorEnvelope = Type.Object({
  success: Type.Literal(false),
  message: Type.String(),
  /** A stable code for programs, such as `InsufficientQuota`. */
  code: Type.String(),
  data: Type.Null(),
})
export type ErrorEnvelope = Static<typeof ErrorEnvelope>

/** A page of a list; `page` counts from 0, like `p`. */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), page: Type.Integer(), total: Type.Integer() })

/** `p` counts from 0; `page_size` (or its alias `size`) is 1 to 100. */
export const PageQuery = {
  p: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' })),
  page_size: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
  size: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
}
