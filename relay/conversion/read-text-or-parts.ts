import type { ContentPart, JsonObject } from './canonical-request.ts'
import { isAbsent, requiredList, requiredObject } from './json-fields.ts'
import { withPlace } from './paths-of-parts-in-caller-request.ts'

type ReadPart = (part: JsonObject, path: string, losses: string[]) => readonly ContentPart[]

/**
 * Reads the content of a message in OpenAI's formats: a string, a list of parts, or null. Empty
 * texts are left out, because other formats reject them.
 */
export function readTextOrParts(
  content: unknown,
  path: string,
  losses: string[],
  readPart: ReadPart,
): ContentPart[] {
  if (isAbsent(content)) return []
  if (typeof content === 'string') {
    return content === '' ? [] : [withPlace({ kind: 'text', text: content }, path)]
  }
  return requiredList(content, path).flatMap((element, at) => {
    const place = `${path}[${at}]`
    const parts = readPart(requiredObject(element, place), place, losses)
    return parts.map((part) => withPlace(part, place))
  })
}
