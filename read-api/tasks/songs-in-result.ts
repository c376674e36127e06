import type { Song } from '../contract/tasks.ts'

const SONGS_MAX = 20
const DEPTH_MAX = 4

type Fields = Readonly<Record<string, unknown>>

/**
 * Finds the songs or lyrics in the JSON result of a music task. The structure differs between
 * providers. Any object with a title, a text or a URL counts as a song. It may be nested in lists
 * and in the members `data` and `clips`.
 */
export function songsOf(result: string): Song[] {
  try {
    return findSongs(JSON.parse(result), 0).slice(0, SONGS_MAX)
  } catch {
    return []
  }
}

function findSongs(value: unknown, depth: number): Song[] {
  if (depth > DEPTH_MAX || typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item) => findSongs(item, depth + 1))
  const fields = value as Fields
  const song = songOf(fields)
  if (song !== null) return [song]
  return [fields.data, fields.clips].flatMap((inner) => findSongs(inner, depth + 1))
}

function songOf(fields: Fields): Song | null {
  const metadata = objectOf(fields.metadata)
  const song = {
    title: textOf(fields.title),
    text: textOf(fields.text) || textOf(fields.lyric) || textOf(metadata.prompt),
    tags: textOf(fields.tags) || textOf(metadata.tags),
    duration: secondsOf(fields.duration) || secondsOf(metadata.duration),
    audio_url: addressOf(fields.audio_url),
    image_url: addressOf(fields.image_large_url) || addressOf(fields.image_url),
  }
  return song.audio_url === '' && song.text === '' && song.title === '' ? null : song
}

const objectOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const secondsOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0

/**
 * Returns the value if it is an http(s) URL. Returns an empty text for any other value, because the
 * console shows the URL as a link.
 */
export function addressOf(value: unknown): string {
  const text = textOf(value)
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : ''
}
