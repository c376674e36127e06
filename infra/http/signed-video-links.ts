import { timingSafeEqual } from 'node:crypto'
import type { Core } from '../core-dependencies.ts'

/** The time in milliseconds for which a link to a video is valid. */
const LINK_MS = 24 * 3_600_000

const signatureOf = ({ vault }: Pick<Core, 'vault'>, task: string, expires: string): string =>
  vault.keyedHash('video-link', `${task}/${expires}`)

/**
 * Returns the query string of a signed link to a video. Until the link expires, it works without an
 * API key.
 */
export function linkQuery(deps: Pick<Core, 'vault' | 'now'>, task: string): string {
  const expires = String(Math.floor((deps.now() + LINK_MS) / 1_000))
  return `expires=${expires}&signature=${signatureOf(deps, task, expires)}`
}

/** Returns the URL path of a finished video's file, with a signed query string. */
export const videoPath = (deps: Pick<Core, 'vault' | 'now'>, task: string): string =>
  `/v1/videos/${task}/content?${linkQuery(deps, task)}`

/** Reports whether the query of a URL has a valid signature for the video and has not expired. */
export function isValidLink(
  deps: Pick<Core, 'vault' | 'now'>,
  task: string,
  query: URLSearchParams,
): boolean {
  const [expires = '', signature = ''] = [query.get('expires') ?? '', query.get('signature') ?? '']
  if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1_000 < deps.now()) return false
  const [left, right] = [signatureOf(deps, task, expires), signature].map((text) =>
    Buffer.from(text),
  )
  return (
    left !== undefined &&
    right !== undefined &&
    left.length === right.length &&
    timingSafeEqual(left, right)
  )
}
