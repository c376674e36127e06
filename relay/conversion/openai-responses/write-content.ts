import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  ContentPart,
  DocumentPart,
  FileSource,
  ImagePart,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { writeDataUrl } from '../data-url.ts'

/**
 * Writes one part of a user's message or of a tool's output. Returns null if the part is empty or
 * was reported as lost.
 */
export function writeInputPart(
  part: ContentPart,
  path: string,
  losses: string[],
): JsonObject | null {
  if ('cache' in part && part.cache !== undefined) addLoss(losses, `${path}.cache`)
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? null : { type: 'input_text', text: part.text }
    case 'image':
      return writeImage(part, path, losses)
    case 'document':
      return writeDocument(part, path, losses)
    default:
      addLoss(losses, `${path} (${part.kind})`)
      return null
  }
}

/** Writes the parts of a message. Parts that were reported as lost or are empty are left out. */
export function writeInputParts(
  parts: readonly ContentPart[],
  path: string,
  losses: string[],
): readonly JsonObject[] {
  return parts
    .map((part, at) => writeInputPart(part, `${path}[${at}]`, losses))
    .filter((part) => part !== null)
}

function writeImage(part: ImagePart, path: string, losses: string[]): JsonObject | null {
  const source = imageSource(part.source)
  if (source === null) addLoss(losses, `${path} (image)`)
  return source === null ? null : { type: 'input_image', detail: part.detail ?? 'auto', ...source }
}

function imageSource(source: FileSource): JsonObject | null {
  if (source.kind === 'url') return { image_url: source.url }
  if (source.kind === 'base64') return { image_url: writeDataUrl(source) }
  return source.kind === 'file-id' ? { file_id: source.id } : null
}

/**
 * Writes a document. A file in base64 without a name gets a default name, because OpenAI requires
 * one. The names of other documents are reported as lost. A document that consists of text becomes
 * a text part.
 */
function writeDocument({ source, name }: DocumentPart, path: string, losses: string[]): JsonObject {
  if (source.kind === 'base64') {
    const filename = name ?? `document.${extensionOf(source.mediaType)}`
    return { type: 'input_file', filename, file_data: writeDataUrl(source) }
  }
  if (name !== undefined) addLoss(losses, `${path}.name`)
  if (source.kind === 'text') return { type: 'input_text', text: source.text }
  return source.kind === 'url'
    ? { type: 'input_file', file_url: source.url }
    : { type: 'input_file', file_id: source.id }
}

const extensionOf = (mediaType: string): string =>
  mediaType === 'text/plain' ? 'txt' : (/\/([a-z0-9]+)$/.exec(mediaType)?.[1] ?? 'pdf')
