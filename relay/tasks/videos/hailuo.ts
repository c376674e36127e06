import { objectOf, webAddress } from '../read-task-request-body.ts'
import {
  accepted,
  choose,
  countOf,
  defined,
  refused,
  resolutionOf,
  type VideoReport,
  type VideoVendor,
  wordsOf,
} from './video-vendor.ts'

const STATUSES: Readonly<Record<string, VideoReport['status']>> = {
  Preparing: 'SUBMITTED',
  Queueing: 'QUEUED',
  Processing: 'IN_PROGRESS',
  Success: 'SUCCESS',
  Fail: 'FAILURE',
}

/**
 * The vendor's error codes that concern the account: limits, the key and the balance. Another
 * account may accept the task.
 */
const ACCOUNT_CODES = new Set([1002, 1004, 1008, 1039, 2045, 2049, 2056])

/**
 * The vendor MiniMax, with its models Hailuo
 * (platform.minimax.io/docs/api-reference/video-generation-t2v).
 */
export const HAILUO: VideoVendor = {
  platform: 'hailuo',
  imagesMax: 1,
  takesLastImage: true,
  media: (request, model) => {
    const isNew = /Hailuo/i.test(model)
    const offered = isNew ? ['768p', '1080p', ...(/-02$/.test(model) ? ['512p'] : [])] : ['720p']
    const resolution = choose('resolution', resolutionOf(request), offered)
    const lengths = isNew && resolution !== '1080p' ? [6, 10] : [6]
    const seconds = choose('seconds', request.seconds, lengths)
    return { seconds, resolution, options: [] }
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
    const { status_code: status, status_msg: words } = objectOf(base)
    const code = countOf(status)
    if (code !== 0) return refused(code, words, code !== null && ACCOUNT_CODES.has(code))
    return accepted(id)
  },
  query: (upstreamId) => ({
    method: 'GET',
    path: `/v1/query/video_generation?task_id=${encodeURIComponent(upstreamId)}`,
  }),
  readReport: ({ status: state, file_id: file, base_resp: base }) => {
    const status = STATUSES[String(state)]
    const { status_msg: words } = objectOf(base)
    return status === undefined ? null : { status, failReason: wordsOf(words), file: wordsOf(file) }
  },
  source: (_id, file) => ({
    kind: 'lookup',
    call: { method: 'GET', path: `/v1/files/retrieve?file_id=${encodeURIComponent(file)}` },
    addressIn: (answer) => webAddress(objectOf(answer.file).download_url),
  }),
}
