import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { ContentPart } from './canonical-request.ts'
import { isAbsent, requiredList, requiredObject } from './json-fields.ts'
import { withCallerPath } from './paths-of-parts-in-caller-request.ts'

type ReadPart = (part: JsonObject, path: string, losses: string[]) => readonly ContentPart[]

/**
 * Reads the content of a message in OpenAI's formats, which is a string, a list of parts, or null.
 * Empty texts are left out, because other formats reject them.
 */
export function readTextOrParts(
  content: unknown,
  path: string,
  losses: string[],
  readPart: ReadPart,
): ContentPart[] {
  if (isAbsent(content)) return []
  if (typeof content === 'string') {
    return content === '' ? [] : [withCallerPath({ kind: 'text', text: content }, path)]
  }
  return requiredList(content, path).flatMap((element, at) => {
    const partPath = `${path}[${at}]`
    const parts = readPart(requiredObject(element, partPath), partPath, losses)
    return parts.map((part) => withCallerPath(part, partPath))
  })
}
