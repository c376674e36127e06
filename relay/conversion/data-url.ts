/** The content of a data URL in base64. `mediaType` is empty if the URL states none. */
type DataUrl = { readonly mediaType: string; readonly data: string }

const SCHEME = 'data:'
const ENCODING = ';base64'
/**
 * The maximum length of the part of a data URL before the comma. Without a maximum, a long text
 * without a comma would be searched to its end.
 */
const HEADER_LENGTH_MAX = 256

/** Returns the content of a data URL in base64. Returns null for any other text. */
export function readDataUrl(url: string): DataUrl | null {
  const start = url.slice(0, HEADER_LENGTH_MAX)
  const comma = start.indexOf(',')
  if (comma < 0 || start.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null
  const header = start.slice(SCHEME.length, comma)
  if (!header.toLowerCase().endsWith(ENCODING)) return null
  const [mediaType = ''] = header.split(';')
  return { mediaType, data: url.slice(comma + 1) }
}

export const writeDataUrl = ({ mediaType, data }: DataUrl): string =>
  `${SCHEME}${mediaType}${ENCODING},${data}`

export const isWebUrl = (text: string): boolean => /^https?:\/\//i.test(text.slice(0, 8))
