import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  AudioPart,
  DocumentPart,
  FileSource,
  ImagePart,
} from '../../canonical/canonical-request.ts'
import { ConversionError } from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { membersOf, reportUnknownMembers, textMember } from './members-in-either-spelling.ts'

type MediaPart = ImagePart | DocumentPart | AudioPart

const BLOB_NAMES = new Set(['mimeType', 'data'])
const FILE_NAMES = new Set(['mimeType', 'fileUri'])

/** Reads `inlineData`. A video is reported as lost, and null is returned. */
export function readInlineData(value: unknown, path: string, losses: string[]): MediaPart | null {
  const blob = membersOf(value, path)
  reportUnknownMembers(blob, BLOB_NAMES, path, losses)
  const mediaType = textMember(blob, 'mimeType', path)
  const data = textMember(blob, 'data', path)
  if (mediaType === null) throw new ConversionError(`${path}.mimeType`, `${path} needs a mimeType`)
  if (data === null) throw new ConversionError(`${path}.data`, `${path} needs data`)
  if (mediaType.startsWith('audio/')) return { kind: 'audio', mediaType, data }
  const source: FileSource = { kind: 'base64', mediaType, data }
  return fileOf(mediaType, source, path, losses)
}

/** Reads `fileData`. Audio and video are reported as lost, and null is returned. */
export function readFileData(value: unknown, path: string, losses: string[]): MediaPart | null {
  const file = membersOf(value, path)
  reportUnknownMembers(file, FILE_NAMES, path, losses)
  const uri = textMember(file, 'fileUri', path)
  if (uri === null) throw new ConversionError(`${path}.fileUri`, `${path} needs a fileUri`)
  const statedType = textMember(file, 'mimeType', path)
  const guessedType = mediaTypeOfAddress(uri)
  const mediaType =
    statedType ?? guessedType ?? (isVideoPage(uri) ? 'video/*' : 'application/octet-stream')
  if (mediaType.startsWith('audio/')) {
    addLoss(losses, `${path} (${mediaType})`)
    return null
  }
  const source: FileSource = isStored(uri)
    ? { kind: 'file-id', id: uri }
    : { kind: 'url', url: uri }
  const part = fileOf(mediaType, source, path, losses)
  if (part !== null && statedType !== null && statedType !== guessedType)
    addLoss(losses, `${path}.mimeType`)
  return part
}

function fileOf(
  mediaType: string,
  source: FileSource,
  path: string,
  losses: string[],
): ImagePart | DocumentPart | null {
  if (mediaType.startsWith('image/')) return { kind: 'image', source }
  if (!mediaType.startsWith('video/')) return { kind: 'document', source }
  addLoss(losses, `${path} (${mediaType})`)
  return null
}

/**
 * Reports whether an address names a file that is stored at Google. Such an address is read as the
 * file's id.
 */
const isStored = (uri: string): boolean =>
  /^(?:gs:\/\/|files\/|https:\/\/generativelanguage\.googleapis\.com\/)/.test(uri)

const isVideoPage = (uri: string): boolean =>
  /^https?:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//.test(uri)

/** Writes an image, a document or audio as `inlineData`, `fileData` or `text`. */
export function writeMedia(part: MediaPart): JsonObject {
  if (part.kind === 'audio') return inline(part.mediaType, part.data)
  const { source } = part
  if (source.kind === 'text') return { text: source.text }
  if (source.kind === 'base64') return inline(source.mediaType, source.data)
  const uri = source.kind === 'url' ? source.url : source.id
  const data = readDataUrl(uri)
  if (data !== null) return inline(data.mediaType, data.data)
  const guessedType = mediaTypeOfAddress(uri)
  // Google knows the type of a file that it stores. For any other file, a type is required.
  const mimeType = guessedType ?? (source.kind === 'url' ? DEFAULTS[part.kind] : null)
  return { fileData: { ...(mimeType !== null && { mimeType }), fileUri: uri } }
}

const DEFAULTS = { image: 'image/jpeg', document: 'application/pdf' }

export const inline = (mimeType: string, data: string): JsonObject => ({
  inlineData: { mimeType, data },
})

function readDataUrl(url: string): { mediaType: string; data: string } | null {
  if (!url.startsWith('data:')) return null
  const comma = url.indexOf(',')
  const [mediaType = '', ...options] = url.slice('data:'.length, Math.max(0, comma)).split(';')
  if (comma < 0 || !options.includes('base64')) return null
  return { mediaType: mediaType === '' ? 'text/plain' : mediaType, data: url.slice(comma + 1) }
}

const TYPES = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
])

/**
 * Guesses the media type from the file extension in an address. Returns null if the extension is
 * unknown.
 */
function mediaTypeOfAddress(address: string): string | null {
  const [path = ''] = address.split(/[?#]/, 1)
  const ending = /\.(\w{1,5})$/.exec(path.slice(-8))?.[1]
  return (ending !== undefined && TYPES.get(ending.toLowerCase())) || null
}
