import Type from 'typebox'

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
