/** A pattern for `like` that finds the text anywhere, none of its signs taken as wildcards. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

export type Slice = { readonly limit: number; readonly offset: number }

export type Listed<Row> = { readonly rows: readonly Row[]; readonly total: number }
