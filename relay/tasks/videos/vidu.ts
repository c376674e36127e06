import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { listOfObjects } from '../parse-provider-json.ts'
import { chooseResolution, ratioOf } from './sizes-of-videos.ts'
import {
  accepted,
  causesByCode,
  defined,
  HOUR_MS,
  providerTextOf,
  refused,
  secondsWithin,
  statusesByName,
  type VideoRequest,
  type VideoVendor,
} from './video-vendor.ts'

const statusOf = statusesByName({
  created: 'SUBMITTED',
  queueing: 'QUEUED',
  processing: 'IN_PROGRESS',
  success: 'SUCCESS',
  failed: 'FAILURE',
})

/**
 * The causes of Vidu's error codes (platform.vidu.com/docs/error-code). For an account without
 * credits, Vidu answers with the HTTP status 400.
 */
const causeOf = causesByCode({
  key: ['Unauthorized'],
  account: ['CreditInsufficient', 'Forbidden'],
  model: ['ModelUnavailable'],
  limit: ['QuotaExceeded', 'TooManyRequests', 'SystemThrottling'],
  provider: ['InternalServiceFailure'],
})

const isFirst = (model: string): boolean => model === 'viduq1'

/** Matches the models whose videos may have up to 16 seconds and sound. */
const WITH_SOUND = /^viduq3/

/**
 * Returns the value of `audio`, or null if the parameter is not sent. Models with sound make it
 * unless a request turns it off, so the parameter is sent in every request for such a model.
 */
const soundOf = (request: VideoRequest, model: string): boolean | null =>
  WITH_SOUND.test(model) ? (request.hasAudio ?? true) : null

/** The vendor Vidu (platform.vidu.com/docs). */
export const VIDU: VideoVendor = {
  platform: 'vidu',
  imagesMax: 7,
  takesLastImage: true,
  fileMs: 24 * HOUR_MS,
  media: (request, model) => {
    const offered = isFirst(model) ? ['1080p'] : ['720p', '360p', '540p', '1080p']
    const secondsMax = WITH_SOUND.test(model) ? 16 : 10
    const seconds = secondsWithin(request.seconds, /^viduq/.test(model) ? 5 : 4, [1, secondsMax])
    const resolution = chooseResolution(request, offered)
    // A single picture determines the ratio of the video.
    const size = request.images.length === 1 ? { size: null } : {}
    const options = soundOf(request, model) === true ? ['audio'] : []
    return { seconds, resolution, ...size, options }
  },
  submit: (request, { seconds, resolution }, { model }) => {
    const { images, lastImage } = request
    const all = lastImage === null ? images : [...images.slice(0, 1), lastImage]
    return {
      method: 'POST',
      path: `/ent/v2/${kindOf(images.length, lastImage !== null)}`,
      body: defined({
        model,
        prompt: request.prompt,
        images: all.length === 0 ? null : all,
        duration: seconds,
        resolution,
        seed: request.seed,
        aspect_ratio: images.length === 1 ? null : ratioOf(request),
        audio: soundOf(request, model),
      }),
    }
  },
  // The member `reason` or `err_code` has the code of an error.
  readSubmitted: ({ task_id: id, message, reason, err_code: code = reason }) =>
    id === undefined ? refused(null, message ?? code, causeOf(code)) : accepted(id),
  query: (upstreamId) => ({
    method: 'GET',
    path: `/ent/v2/tasks/${encodeURIComponent(upstreamId)}/creations`,
  }),
  readReport: ({ state, err_code: code, creations }) => {
    const status = statusOf(state)
    const [creation] = listOfObjects(creations)
    if (status === undefined) return null
    const { url, cover_url: cover } = objectOrEmpty(creation)
    return {
      status,
      failReason: providerTextOf(code),
      file: providerTextOf(url),
      cover: providerTextOf(cover),
    }
  },
  source: (_id, url) => ({ kind: 'address', url }),
  sign: (key) => ({ authorization: `Token ${key}` }),
}

function kindOf(images: number, hasLast: boolean): string {
  if (hasLast) return 'start-end2video'
  if (images > 1) return 'reference2video'
  return images === 1 ? 'img2video' : 'text2video'
}
