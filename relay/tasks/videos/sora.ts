import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { resolutionOfSize } from './sizes-of-videos.ts'
import {
  accepted,
  choose,
  countOf,
  defined,
  providerTextOf,
  refused,
  reject,
  statusesByName,
  type VideoRequest,
  type VideoVendor,
} from './video-vendor.ts'

const statusOf = statusesByName({
  queued: 'QUEUED',
  in_progress: 'IN_PROGRESS',
  completed: 'SUCCESS',
  failed: 'FAILURE',
})

const VIDEOS = '/v1/videos'
const DEFAULT_SIZE = '720x1280'
const pathOf = (upstreamId: string) => `${VIDEOS}/${encodeURIComponent(upstreamId)}`

/**
 * The lengths in seconds that OpenAI documents
 * (developers.openai.com/api/docs/guides/video-generation).
 */
const SECONDS = [4, 8, 12, 16, 20]

/**
 * The portrait and landscape size of each resolution, for callers that name a resolution and no
 * size.
 */
const SIZES: ReadonlyMap<string, readonly [portrait: string, landscape: string]> = new Map([
  ['720p', ['720x1280', '1280x720']],
  ['1024p', ['1024x1792', '1792x1024']],
  ['1080p', ['1080x1920', '1920x1080']],
])

function namedSize(request: VideoRequest): string | null {
  const { resolution } = request
  if (resolution === null) return null
  const named = SIZES.get(resolution) ?? reject('resolution', [...SIZES.keys()])
  const ratio = choose('aspect_ratio', request.ratio, ['9:16', '16:9'])
  return named[ratio === '16:9' ? 1 : 0]
}

const UNIX_SECONDS_MAX = 99_999_999_999

/** Returns a time in Unix milliseconds; null if the value is not a time in Unix seconds. */
const timeOf = (value: unknown): number | null =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) <= UNIX_SECONDS_MAX
    ? Number(value) * 1_000
    : null

/**
 * The video API of OpenAI and of gateways that copy it, as in
 * platform.openai.com/docs/api-reference/videos.
 */
export const SORA: VideoVendor = {
  platform: 'sora',
  imagesMax: 1,
  takesLastImage: false,
  media: (request) => {
    const size = request.size ?? namedSize(request) ?? DEFAULT_SIZE
    const made = resolutionOfSize(size) ?? reject('size', [...SIZES.values()].flat())
    const seconds = choose('seconds', request.seconds, SECONDS)
    return { seconds, resolution: made, size, options: [] }
  },
  submit: (request, { seconds, size }, { model, originId }) => {
    const { prompt } = request
    if (originId !== null) {
      return { method: 'POST', path: `${pathOf(originId)}/remix`, body: { prompt } }
    }
    const [image] = request.images
    return {
      method: 'POST',
      path: VIDEOS,
      body: defined({
        ...{ model, prompt, size, seconds: String(seconds) },
        input_reference: image === undefined ? null : { image_url: image },
      }),
    }
  },
  readSubmitted: ({ id, error }) =>
    id === undefined ? refused(null, objectOrEmpty(error).message) : accepted(id),
  query: (upstreamId) => ({ method: 'GET', path: pathOf(upstreamId) }),
  readReport: ({ status: state, progress, error, seconds, expires_at: expires }) => {
    const status = statusOf(state)
    if (status === undefined) return null
    const percent = countOf(progress)
    return {
      status,
      progress: percent === null ? null : `${Math.min(percent, 100)}%`,
      failReason: providerTextOf(objectOrEmpty(error).message),
      file: status === 'SUCCESS' ? 'content' : null,
      seconds: countOf(seconds),
      expiresAt: timeOf(expires),
    }
  },
  remove: (upstreamId) => ({ method: 'DELETE', path: pathOf(upstreamId) }),
  otherVariants: ['thumbnail', 'spritesheet'],
  source: (upstreamId, _file, variant) => ({
    kind: 'vendor',
    path: `${pathOf(upstreamId)}/content${variant === 'video' ? '' : `?variant=${variant}`}`,
  }),
}
