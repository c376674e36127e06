import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  AudioPart,
  ContentPart,
  DocumentPart,
  ImagePart,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { writeDataUrl } from '../data-url.ts'
import type { ChatExtensions } from './chat-extensions-of-provider.ts'

/** The content of a message: a string or a list of parts. */
type ChatContent = string | readonly JsonObject[]

/** A part and its path in the canonical request. Losses are reported by this path. */
export type PartWithPath = { readonly part: ContentPart; readonly path: string }

/** Returns parts together with their paths. `path` is the path of the message. */
export const withPaths = (parts: readonly ContentPart[], path: string): readonly PartWithPath[] =>
  parts.map((part, at) => ({ part, path: `${path}.parts[${at}]` }))

/**
 * Writes texts, images, audio and documents as the content of a message. A single text without a
 * cache mark becomes a string. If the vendor accepts no lists of texts, several such texts are
 * joined to one string.
 */
export function writeContent(
  parts: readonly PartWithPath[],
  vendor: ChatExtensions,
  losses: string[],
): ChatContent {
  const content = parts.flatMap(({ part, path }) => {
    const written = writePart(part, path, vendor, losses)
    return written === null ? [] : [withCacheMark(written, part, path, vendor, losses)]
  })
  const texts = content.filter(isPlainText).map(({ text }) => text)
  if (texts.length < content.length) return content
  if (texts.length <= 1 || !vendor.hasTextLists) return texts.join('\n\n')
  return content
}

/** Reports whether a part is a text without a cache mark. */
const isPlainText = (part: JsonObject): boolean =>
  part.type === 'text' && part.cache_control === undefined

function writePart(
  part: ContentPart,
  path: string,
  vendor: ChatExtensions,
  losses: string[],
): JsonObject | null {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return writeImage(part, path, losses)
    case 'audio':
      return writeAudio(part, path, vendor, losses)
    case 'document':
      return writeDocument(part, path, vendor, losses)
    default:
      addLoss(losses, `${path} (${part.kind})`)
      return null
  }
}

function withCacheMark(
  written: JsonObject,
  part: ContentPart,
  path: string,
  vendor: ChatExtensions,
  losses: string[],
): JsonObject {
  const cache = 'cache' in part ? part.cache : undefined
  if (cache === undefined) return written
  if (vendor.hasCacheMarks) return { ...written, ...cacheMember(cache) }
  addLoss(losses, `${path}.cache`)
  return written
}

/** Writes a cache mark. The default lifetime of five minutes is omitted. */
export const cacheMember = (cache: '5m' | '1h'): JsonObject => ({
  cache_control: { type: 'ephemeral', ...(cache === '1h' ? { ttl: '1h' } : {}) },
})

function writeImage(part: ImagePart, path: string, losses: string[]): JsonObject | null {
  const { source, detail } = part
  const shown = detail === undefined ? {} : { detail }
  if (source.kind === 'url') return { type: 'image_url', image_url: { url: source.url, ...shown } }
  if (source.kind === 'base64') {
    return { type: 'image_url', image_url: { url: writeDataUrl(source), ...shown } }
  }
  addLoss(losses, `${path} (image)`)
  return null
}

/** The audio formats that OpenAI accepts, by media type. */
const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/vnd.wave', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
])

function writeAudio(
  { mediaType, data }: AudioPart,
  path: string,
  vendor: ChatExtensions,
  losses: string[],
): JsonObject | null {
  const [type = ''] = mediaType.toLowerCase().split(';')
  const named = AUDIO_FORMATS.get(type.trim())
  const format = named ?? (vendor.hasAllMedia ? type.slice(type.indexOf('/') + 1) : undefined)
  if (format !== undefined) return { type: 'input_audio', input_audio: { data, format } }
  addLoss(losses, `${path} (audio)`)
  return null
}

function writeDocument(
  part: DocumentPart,
  path: string,
  vendor: ChatExtensions,
  losses: string[],
): JsonObject | null {
  const { source, name } = part
  switch (source.kind) {
    case 'text':
      if (name !== undefined) addLoss(losses, `${path}.name`)
      return { type: 'text', text: source.text }
    case 'file-id':
      if (name !== undefined) addLoss(losses, `${path}.name`)
      return { type: 'file', file: { file_id: source.id } }
    case 'base64': {
      const filename = name ?? defaultFileName(source.mediaType)
      return { type: 'file', file: { filename, file_data: writeDataUrl(source) } }
    }
    case 'url': {
      const filename = name === undefined ? {} : { filename: name }
      if (vendor.hasAllMedia) return { type: 'file', file: { ...filename, file_data: source.url } }
      addLoss(losses, `${path} (document)`)
      return null
    }
  }
}

/** Returns a name for a file without a name, because OpenAI requires a name. */
function defaultFileName(mediaType: string): string {
  const subtype = mediaType.slice(mediaType.indexOf('/') + 1)
  return `document.${subtype === 'plain' ? 'txt' : subtype.replace(/[^a-z0-9].*/i, '') || 'bin'}`
}
