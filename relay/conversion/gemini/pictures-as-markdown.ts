import type { JsonObject } from '#relay/canonical/json-values.ts'
import { inline } from './convert-inline-and-file-data.ts'

const MARKDOWN_PICTURE = /!\[[^\]\n]{0,64}\]\(data:(image\/[a-z0-9.+-]{1,40});base64,([\w+/=]+)\)/g
const MEDIA_TYPE = /^image\/[a-z0-9.+-]{1,40}$/

/**
 * Returns a picture in an answer as Markdown, because the answers of other formats have no
 * pictures. Returns null if the data is not a picture.
 */
export function pictureAsMarkdown({ mimeType, data }: JsonObject): string | null {
  if (typeof mimeType !== 'string' || !MEDIA_TYPE.test(mimeType)) return null
  return typeof data === 'string' ? `![image](data:${mimeType};base64,${data})` : null
}

/**
 * The minimum length in base64 characters of a picture that is split from a text. The call's hold
 * (the reserved quota) covers at least one token per four bytes of text. A picture may have 6 000
 * tokens (`BY_PIECE`), so a picture below this length could cost more than the hold. Pictures that
 * models generate are longer.
 */
const PICTURE_LENGTH_MIN = 24_000

/**
 * Splits the text of an earlier answer into texts and pictures. Callers send the pictures back as
 * Markdown. Small pictures are left in the text, and `onSmallPicture` is called for each.
 */
export function splitPictures(text: string, onSmallPicture: () => void): readonly JsonObject[] {
  const parts: JsonObject[] = []
  let from = 0
  for (const match of text.matchAll(MARKDOWN_PICTURE)) {
    const [whole, mimeType = '', data = ''] = match
    if (data.length < PICTURE_LENGTH_MIN) {
      onSmallPicture()
      continue
    }
    const before = text.slice(from, match.index)
    if (before.trim() !== '') parts.push({ text: before })
    parts.push(inline(mimeType, data))
    from = match.index + whole.length
  }
  const rest = text.slice(from)
  return rest.trim() === '' && parts.length > 0 ? parts : [...parts, { text: rest }]
}
