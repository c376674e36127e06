import { createHmac } from 'node:crypto'
import { numericOf, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { listOfObjects } from '../parse-provider-json.ts'
import { ratioOf } from './sizes-of-videos.ts'
import {
  accepted,
  bareImage,
  causesByCode,
  choose,
  countOf,
  defined,
  HOUR_MS,
  providerTextOf,
  refused,
  secondsWithin,
  statusesByName,
  type VideoVendor,
} from './video-vendor.ts'

const statusOf = statusesByName({
  submitted: 'SUBMITTED',
  processing: 'IN_PROGRESS',
  succeed: 'SUCCESS',
  failed: 'FAILURE',
})

/**
 * The causes of Kling's error codes (klingai.com/document-api, "Error Code"). For an account in
 * arrears (1101) or without a resource pack (1102), Kling answers with the HTTP status 429, as for
 * a limit. The code 1304 means that the key is not allowed from the site's IP address.
 */
const causeOf = causesByCode({
  key: [1000, 1001, 1002, 1003, 1004, 1304],
  account: [1100, 1101, 1102, 1103],
  limit: [1302, 1303],
  provider: [5000, 5001, 5002],
})

/**
 * The vendor Kling (klingai.com/document-api). A channel's key has the form `access key|secret
 * key`.
 */
export const KLING: VideoVendor = {
  platform: 'kling',
  imagesMax: 1,
  takesLastImage: true,
  takesLastImageAlone: true,
  fileMs: 30 * 24 * HOUR_MS,
  media: (request) => {
    const isPro = choose('mode', request.mode, ['std', 'pro']) === 'pro'
    const options = [...(isPro ? ['pro'] : []), ...(request.hasAudio === true ? ['audio'] : [])]
    const seconds = secondsWithin(request.seconds, 5, [3, 15])
    return { seconds, resolution: null, options }
  },
  submit: (request, { seconds, options }, { model, task }) => {
    const [image] = request.images
    return {
      method: 'POST',
      path: `/v1/videos/${kindOf(request.action)}`,
      body: defined({
        model_name: model,
        prompt: request.prompt,
        negative_prompt: request.negativePrompt,
        image: image === undefined ? null : bareImage(image),
        image_tail: request.lastImage === null ? null : bareImage(request.lastImage),
        mode: options.includes('pro') ? 'pro' : 'std',
        sound: options.includes('audio') ? 'on' : null,
        duration: String(seconds),
        // A picture determines the ratio of the video.
        aspect_ratio: request.action === 'TEXT_TO_VIDEO' ? (ratioOf(request) ?? '16:9') : null,
        external_task_id: task,
      }),
    }
  },
  readSubmitted: (answer, { path }) => {
    const code = countOf(answer.code)
    if (code !== 0) return refused(code, answer.message, causeOf(code))
    const [, kind = ''] = /^\/v1\/videos\/(\w+)/.exec(path) ?? []
    return accepted(objectOrEmpty(answer.data).task_id, `${kind}/`)
  },
  query: (upstreamId) => ({ method: 'GET', path: `/v1/videos/${upstreamId}` }),
  // A query takes either Kling's id or the `external_task_id` of the submission.
  search: (task, action) => ({ method: 'GET', path: `/v1/videos/${kindOf(action)}/${task}` }),
  readReport: ({ data }) => {
    const task = objectOrEmpty(data)
    const status = statusOf(task.task_status)
    if (status === undefined) return null
    const [video] = listOfObjects(objectOrEmpty(task.task_result).videos)
    return {
      status,
      failReason: providerTextOf(task.task_status_msg),
      file: providerTextOf(video?.url),
      seconds: roundedSeconds(video?.duration),
    }
  },
  source: (_id, url) => ({ kind: 'address', url }),
  sign: (key, _request, nowMs) => ({ authorization: `Bearer ${klingToken(key, nowMs)}` }),
}

const kindOf = (action: string): string =>
  action === 'IMAGE_TO_VIDEO' ? 'image2video' : 'text2video'

/**
 * Returns the length of a video in whole seconds, at least 1, or null if the value is invalid.
 * Kling reports lengths such as 5.041 for a video of five seconds.
 */
const roundedSeconds = (value: unknown): number | null => {
  const seconds = numericOf(value)
  return Number.isFinite(seconds) && seconds > 0 ? Math.max(1, Math.round(seconds)) : null
}

const VALID_SECONDS = 1_800

/**
 * Returns the token that authenticates requests with this key: a JWT that is signed with the secret
 * key. A key without `|` is a token for another gateway, and is returned as it is.
 */
export function klingToken(key: string, nowMs: number): string {
  const [access = '', secret] = key.split('|').map((part) => part.trim())
  if (secret === undefined) return key
  const now = Math.floor(nowMs / 1_000)
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: access, exp: now + VALID_SECONDS, nbf: now - 5 }
  const content = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`
}
