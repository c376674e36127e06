import { timingSafeEqual } from 'node:crypto'
import type { Core } from '../core-dependencies.ts'

/** The maximum time in milliseconds for which a link to a video is valid. */
const LINK_MS = 24 * 3_600_000

const signatureOf = ({ vault }: Pick<Core, 'vault'>, task: string, expires: string): string =>
  vault.keyedHash('video-link', `${task}/${expires}`)

/**
 * The file of a finished video, as the encrypted result of its task stores it in JSON. `file` is
 * the location that the vendor reported: a URL, an id or a media type.
 */
export type VideoFile = {
  readonly file: string
  /** The URL of a picture of the video, if the vendor reports one. */
  readonly cover?: string
  /** The time until which the vendor keeps the file, in Unix milliseconds, if it is known. */
  readonly expiresAt?: number
  /** The length of the video in whole seconds, if the vendor reports it. */
  readonly seconds?: number
}

/** Reads the result of a finished video. Returns null if the text is null or has no file. */
export function readVideoFile(text: string | null): VideoFile | null {
  if (text === null || text === '') return null
  const { file, cover, expiresAt, seconds } = JSON.parse(text) as Partial<VideoFile>
  if (typeof file !== 'string') return null
  return {
    file,
    ...(typeof cover === 'string' ? { cover } : {}),
    ...(typeof expiresAt === 'number' ? { expiresAt } : {}),
    ...(typeof seconds === 'number' ? { seconds } : {}),
  }
}

/**
 * A finished video. `expiresAt` is the time in Unix milliseconds until which the file of the video
 * exists, or null if it is unknown.
 */
export type LinkedVideo = { readonly task: string; readonly expiresAt: number | null }

/**
 * Returns the query string of a signed link to a video. Until the link expires, it works without an
 * API key. The link expires no later than the file.
 */
export function linkQuery(
  deps: Pick<Core, 'vault' | 'now'>,
  { task, expiresAt }: LinkedVideo,
): string {
  const latest = deps.now() + LINK_MS
  const expires = String(Math.floor(Math.min(latest, expiresAt ?? latest) / 1_000))
  return `expires=${expires}&signature=${signatureOf(deps, task, expires)}`
}

/** Returns the URL path of a finished video's file, with a signed query string. */
export const videoPath = (deps: Pick<Core, 'vault' | 'now'>, video: LinkedVideo): string =>
  `/v1/videos/${video.task}/content?${linkQuery(deps, video)}`

/**
 * Checks the query of a URL. `expired` means that this site has signed the link to the video, but
 * that the link has expired. A query without a valid signature is `invalid`.
 */
export function checkLink(
  deps: Pick<Core, 'vault' | 'now'>,
  task: string,
  query: URLSearchParams,
): 'valid' | 'expired' | 'invalid' {
  const [expires = '', signature = ''] = [query.get('expires') ?? '', query.get('signature') ?? '']
  if (!/^\d{1,12}$/.test(expires)) return 'invalid'
  const [left, right] = [signatureOf(deps, task, expires), signature].map((text) =>
    Buffer.from(text),
  )
  const isSigned =
    left !== undefined &&
    right !== undefined &&
    left.length === right.length &&
    timingSafeEqual(left, right)
  if (!isSigned) return 'invalid'
  return Number(expires) * 1_000 < deps.now() ? 'expired' : 'valid'
}
