/** The content of a data URL in base64. `mediaType` is empty if the URL names none. */
export type DataUrl = { readonly mediaType: string; readonly data: string }

/** A longer header is not searched for, because the content may have many megabytes. */
const HEADER_LENGTH_MAX = 256
const HEADER = /^data:([^;,]*)(?:;[^,]*)?;base64,/i

/** Returns the content of a data URL in base64, or null for any other text. */
export function readDataUrl(url: string): DataUrl | null {
  const [header, mediaType = ''] = HEADER.exec(url.slice(0, HEADER_LENGTH_MAX)) ?? []
  return header === undefined ? null : { mediaType, data: url.slice(header.length) }
}

export const writeDataUrl = ({ mediaType, data }: DataUrl): string =>
  `data:${mediaType};base64,${data}`

export const isWebUrl = (text: string): boolean => /^https?:\/\//i.test(text.slice(0, 8))
