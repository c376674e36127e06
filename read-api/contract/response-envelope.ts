import Type, { type Static, type TSchema } from 'typebox'

/** The schema of a text in both languages of the console. */
export const TranslatedText = Type.Object({ zh: Type.String(), en: Type.String() })

/**
 * Returns the schema of a response of the management API. The member `data` contains the data, or
 * null if there is no data to return.
 */
export const Envelope = <T extends TSchema>(data: T) =>
  Type.Object({ success: Type.Boolean(), message: Type.String(), data })

export const Done = Envelope(Type.Null())

export const ErrorEnvelope = Type.Object({
  success: Type.Literal(false),
  message: Type.String(),
  /** A stable error code for programs, such as `InsufficientQuota`. */
  code: Type.String(),
  data: Type.Null(),
  /**
   * The name of the invalid field of the request, and the problem with this field. A form can show
   * the problem beside the field. `message` contains both texts.
   */
  invalid_field: Type.Optional(Type.Object({ name: Type.String(), problem: Type.String() })),
})
export type ErrorEnvelope = Static<typeof ErrorEnvelope>

/**
 * Returns the schema of one page of a list. The page number `page` starts with 0, like the query
 * parameter `p`.
 */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), page: Type.Integer(), total: Type.Integer() })
