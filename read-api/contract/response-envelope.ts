import Type, { type Static, type TSchema } from 'typebox'

/** The schema of a text in both languages of the console. */
export const TranslatedText = Type.Object({ zh: Type.String(), en: Type.String() })

/**
 * Returns the schema of a response of the management API, which has the data in the member `data`.
 * `data` is null if there is no data to return.
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
   * The invalid field of the request and what is wrong with it, for a form. `message` contains
   * both.
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

/**
 * The paging parameters of a list. The page number `p` starts with 0. The page size (`page_size` or
 * `size`) is from 1 to 100.
 */
const PageQuery = {
  p: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' })),
  page_size: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
  size: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
}

/**
 * The paging parameters of a list whose rows change while a user pages through it. `after` is the
 * id of the last row of the previous page, and the page starts with the next row. Rows that are
 * added or deleted meanwhile do not shift the page.
 */
const KeysetPageQuery = {
  ...PageQuery,
  after: Type.Optional(Type.String({ pattern: '^[0-9]{0,15}$' })),
}

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

/**
 * Common query parameters. A text parameter is a filter. An empty text means that nothing is
 * filtered.
 */
export const Query = {
  page: PageQuery,
  keysetPage: KeysetPageQuery,
  text: text(200),
  flag: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false'), Type.Literal('')])),
  /** A non-negative integer. An empty text means no value. */
  integer: Type.Optional(Type.String({ pattern: '^[0-9]{0,15}$' })),
}

/** The id of an object in a request. */
export const Id = Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 })

/**
 * The id of an object in a path. Path parameters are text, so a pattern checks that the id is a
 * positive integer.
 */
export const IdParams = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) })

/**
 * Returns the schema of an optional query parameter that must be one of the texts. An empty text
 * counts as absent.
 */
export const choiceOf = <T extends string>(texts: readonly T[]) =>
  Type.Optional(Type.Unsafe<T | ''>(Type.Union([...texts, ''].map((text) => Type.Literal(text)))))

/**
 * Returns the query parameters `sort` and `order` for a list. The order is descending unless
 * `order` is `asc`.
 */
export const sortedBy = <T extends string>(columns: readonly T[]) => ({
  sort: choiceOf(columns),
  order: choiceOf(['asc', 'desc']),
})
