/**
 * Reports whether a text is not empty and has only visible ASCII characters. Such a text can be
 * sent in a header.
 */
export const isVisibleText = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/**
 * Returns the value of a header in a flat list of names and values. Returns an empty string if the
 * header is missing.
 */
export function headerIn(headers: readonly string[], name: string): string {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text === name)
  return at < 0 ? '' : (headers[at + 1] ?? '')
}

export const BETA_HEADER = 'anthropic-beta'

/** Returns the names of the betas (of Anthropic's API) in a comma-separated header value. */
export const betasIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')

/** Converts a flat list of names and values to an object. */
export const headersByName = (headers: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? '']] : [])),
  )

/**
 * Returns a flat list of names and values without the headers for whose name `isRemoved` returns
 * true.
 */
export const withoutHeaders = (
  headers: readonly string[],
  isRemoved: (name: string) => boolean,
): readonly string[] => headers.filter((_, index) => !isRemoved(headers[index - (index % 2)] ?? ''))
