import Type, { type Static, type TSchema } from 'typebox'

/**
 * Returns the schema that all responses of `/api` have. `data` is null if the request returns no
 * data.
 */
export const Envelope = <T extends TSchema>(data: T) =>
  Type.Object({ success: Type.Boolean(), message: Type.String(), data })

/** The response of a request that returns no data. */
export const Done = Envelope(Type.Null())

export const ErrorEnvelope = Type.Object({
  success: Type.Literal(false),
  message: Type.String(),
  /** A stable error code for programs, such as `InsufficientQuota`. */
  code: Type.String(),
  data: Type.Null(),
})
export type ErrorEnvelope = Static<typeof ErrorEnvelope>

/** Returns the schema for one page of a list. `page` counts from 0, like the parameter `p`. */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), page: Type.Integer(), total: Type.Integer() })

/** The paging parameters: `p` from 0, and `page_size` (or its alias `size`) from 1 to 100. */
export const PageQuery = {
  p: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' })),
  page_size: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
  size: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
}

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

/** Elements of query schemas. Text parameters are filters, and an empty text does not filter. */
export const Query = {
  page: PageQuery,
  text: text(200),
  flag: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false'), Type.Literal('')])),
  /** A non-negative integer. An empty text means that there is no value. */
  integer: Type.Optional(Type.String({ pattern: '^[0-9]{0,15}$' })),
}

/** Path parameters are text, so the schema checks that the text is a positive integer. */
export const IdParams = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) })

/** Returns the schema of a parameter that is one of the texts. An empty text counts as missing. */
export const choiceOf = <T extends string>(texts: readonly T[]) =>
  Type.Optional(Type.Unsafe<T | ''>(Type.Union([...texts, ''].map((text) => Type.Literal(text)))))

/**
 * Returns the query parameters of a list that can be sorted by the columns. The order is descending
 * unless `order` is `asc`.
 */
export const sortedBy = <T extends string>(columns: readonly T[]) => ({
  sort: choiceOf(columns),
  order: choiceOf(['asc', 'desc']),
})
