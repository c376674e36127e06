/** A pattern for `like` that matches the text anywhere; wildcards in the text are escaped. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

export type Slice = { readonly limit: number; readonly offset: number }

export type Listed<Row> = { readonly rows: readonly Row[]; readonly total: number }
