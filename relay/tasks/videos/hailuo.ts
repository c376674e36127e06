import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { MINIMAX_CODES } from '#relay/providers/profiles/minimax-errors.ts'
import { webAddress } from '../parse-provider-json.ts'
import { chooseResolution, ratioOf, sizesOf } from './sizes-of-videos.ts'
import {
  accepted,
  causesByCode,
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
  Preparing: 'SUBMITTED',
  Queueing: 'QUEUED',
  Processing: 'IN_PROGRESS',
  Success: 'SUCCESS',
  Fail: 'FAILURE',
})

const causeOf = causesByCode<number | null>(MINIMAX_CODES)

/**
 * MiniMax's video API, for the Hailuo models and the older models `T2V-…`, `I2V-…` and `S2V-…`
 * (platform.minimax.io/docs/api-reference/video-generation-t2v).
 */
export const HAILUO: VideoVendor = {
  platform: 'hailuo',
  imagesMax: 1,
  takesLastImage: true,
  takesLastImageAlone: true,
  media: (request, model) => {
    const isNew = /Hailuo/i.test(model)
    const offered = isNew ? ['768p', '1080p', ...(/-02$/.test(model) ? ['512p'] : [])] : ['720p']
    const resolution = chooseResolution(request, offered, ['16:9'])
    const lengths = isNew && resolution !== '1080p' ? [6, 10] : [6]
    const seconds = choose('seconds', request.seconds, lengths)
    refuseOtherShapes(request, offered)
    return { seconds, resolution, size: null, options: [] }
  },
  submit: (request, { seconds, resolution }, { model }) => ({
    method: 'POST',
    path: '/v1/video_generation',
    body: defined({
      model,
      prompt: request.prompt,
      first_frame_image: request.images[0],
      last_frame_image: request.lastImage,
      duration: seconds,
      resolution: resolution?.toUpperCase(),
    }),
  }),
  readSubmitted: ({ task_id: id, base_resp: base }) => {
    const { status_code: status, status_msg: words } = objectOrEmpty(base)
    const code = countOf(status)
    if (code !== 0) return refused(code, words, causeOf(code))
    return accepted(id)
  },
  query: (upstreamId) => ({
    method: 'GET',
    path: `/v1/query/video_generation?task_id=${encodeURIComponent(upstreamId)}`,
  }),
  readReport: ({ status: state, file_id: file, base_resp: base }) => {
    const status = statusOf(state)
    const { status_code: code, status_msg: words } = objectOrEmpty(base)
    if (status === undefined) return null
    // The code 0 means that the query succeeded, and its message is not about the task.
    const failReason = countOf(code) === 0 ? null : providerTextOf(words)
    return { status, failReason, file: providerTextOf(file) }
  },
  // The path and the body are documented at
  // platform.minimax.io/docs/api-reference/file-management-delete.
  remove: (_id, file) =>
    file === null
      ? null
      : {
          method: 'POST',
          path: '/v1/files/delete',
          body: { file_id: file, purpose: 'video_generation' },
        },
  source: (_id, file) => ({
    kind: 'lookup',
    call: { method: 'GET', path: `/v1/files/retrieve?file_id=${encodeURIComponent(file)}` },
    addressIn: (answer) => webAddress(objectOrEmpty(answer.file).download_url),
  }),
}

/**
 * Refuses a size that is not of the ratio 16:9. The vendor's API has no ratio, so the caller would
 * otherwise pay for a video of another shape. A picture determines the shape of its video. The size
 * must not be read if it is not needed, because only options that are not read are reported as not
 * sent.
 */
function refuseOtherShapes(request: VideoRequest, offered: readonly string[]): void {
  const hasPicture = request.images.length > 0 || request.lastImage !== null
  if (hasPicture || request.resolution !== null || request.size === null) return
  if (ratioOf({ ratio: null, size: request.size }) !== '16:9') {
    reject('size', sizesOf(offered, ['16:9']))
  }
}
