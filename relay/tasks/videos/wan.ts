import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { rejectParam } from '../read-task-request-body.ts'
import { ratioOf } from './sizes-of-videos.ts'
import {
  accepted,
  causesByCode,
  choose,
  countOf,
  defined,
  HOUR_MS,
  providerTextOf,
  refused,
  reject,
  rejectPictures,
  statusesByName,
  type VideoRequest,
  type VideoVendor,
} from './video-vendor.ts'

/**
 * The causes of DashScope's error codes (help.aliyun.com/zh/model-studio/error-code). For an
 * account in arrears, DashScope answers with the HTTP status 400.
 */
const causeOf = causesByCode({
  key: ['InvalidApiKey', 'invalid_api_key'],
  account: [
    ...['Arrearage', 'PrepaidBillOverdue', 'PostpaidBillOverdue', 'CommodityNotPurchased'],
    ...['AccessDenied', 'AccessDenied.Unpurchased', 'Workspace.AccessDenied'],
    ...['AllocationQuota.FreeTierOnly', 'insufficient_quota'],
  ],
  model: ['Model.AccessDenied', 'ModelNotFound'],
  limit: [
    ...['Throttling', 'Throttling.RateQuota', 'Throttling.BurstRate'],
    ...['Throttling.AllocationQuota', 'LimitRequests', 'limit_requests'],
  ],
  provider: ['InternalError', 'SystemError', 'ModelServiceFailed', 'RequestTimeOut'],
})

const statusOf = statusesByName({
  PENDING: 'QUEUED',
  RUNNING: 'IN_PROGRESS',
  SUSPENDED: 'QUEUED',
  SUCCEEDED: 'SUCCESS',
  FAILED: 'FAILURE',
  CANCELED: 'FAILURE',
})

/**
 * The sizes that text-to-video models offer, by resolution and aspect ratio
 * (help.aliyun.com/zh/model-studio/text-to-video-api-reference).
 */
const SIZES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '480p': { '16:9': '832*480', '9:16': '480*832', '1:1': '624*624' },
  '720p': {
    ...{ '16:9': '1280*720', '9:16': '720*1280', '1:1': '960*960' },
    ...{ '4:3': '1088*832', '3:4': '832*1088' },
  },
  '1080p': {
    ...{ '16:9': '1920*1080', '9:16': '1080*1920', '1:1': '1440*1440' },
    ...{ '4:3': '1632*1248', '3:4': '1248*1632' },
  },
}

/**
 * Matches Wan 2.7 and later. Their requests have a resolution and a ratio instead of a size, and
 * pictures in `media`
 * (alibabacloud.com/help/en/model-studio/text-to-video-api-reference).
 */
const SINCE_2_7 = /^wan(?:2\.(?:[7-9]|\d\d)|[3-9])/
/** Matches Wan 2.6 and later. Their lowest resolution is 720p. */
const SINCE_2_6 = /^wan(?:2\.(?:[6-9]|\d\d)|[3-9])/
/** The lengths in seconds of Wan 2.6 and later. The first one is the default. */
const LENGTHS_SINCE_2_6 = [5, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]

/**
 * Matches the models that make a video between a first and a last frame. Both pictures are required
 * (alibabacloud.com/help/en/model-studio/image-to-video-by-first-and-last-frame-api-reference).
 */
const BETWEEN_FRAMES = /^wanx?2\.[12]-kf2v/

function resolutionsOf(model: string): readonly string[] {
  if (/^wan2\.2-kf2v-flash/.test(model)) return ['720p', '480p', '1080p']
  if (SINCE_2_6.test(model)) return ['720p', '1080p']
  if (/^wan2\.5/.test(model)) return ['1080p', '720p', '480p']
  if (/^wan2\.2-[ti]2v-plus/.test(model)) return ['1080p', '480p']
  return /^wanx?2\.1-[ti]2v-turbo|^wan2\.2-i2v-flash/.test(model) ? ['720p', '480p'] : ['720p']
}

const SIDES = /^([1-9]\d{1,3})\*([1-9]\d{1,3})$/

/**
 * Returns the resolution of the requested video. If only a size is requested, the resolution is the
 * one that lists this size in `SIZES`. The shorter side is not enough, because at 720p it has 720
 * pixels only at 16:9 and 9:16. For a size that is not listed, the resolution is the one of the
 * shorter side.
 */
function resolutionFor(request: VideoRequest, model: string): string {
  const offered = resolutionsOf(model)
  const { resolution } = request
  // A size that is not needed must not be read, because only options that are not read are reported
  // as not sent.
  const size = resolution === null ? request.size : null
  if (size === null) return choose('resolution', resolution, offered)
  const sizesOf = (name: string) => Object.values(SIZES[name] ?? {})
  const written = size.replace(/[x×]/i, '*')
  const [, width, height] = SIDES.exec(written) ?? []
  const side = `${Math.min(Number(width), Number(height))}p`
  const found = offered.find((name) => sizesOf(name).includes(written))
  const sizes = offered.flatMap(sizesOf).map(asWritten)
  return found ?? (offered.includes(side) ? side : reject('size', sizes))
}

/** Matches the models whose videos have a fixed length, which is not sent. */
const FIXED_LENGTH = /^wanx?2\.(?:1(?!\d)|2-kf2v)/

function lengthsOf(model: string): readonly number[] {
  if (SINCE_2_6.test(model)) return LENGTHS_SINCE_2_6
  return /^wan2\.5/.test(model) ? [5, 10] : [5]
}

/**
 * The vendor Alibaba, with its models Wan
 * (help.aliyun.com/zh/model-studio/text-to-video-api-reference).
 */
export const WAN: VideoVendor = {
  platform: 'wan',
  imagesMax: 1,
  takesLastImage: true,
  fileMs: 24 * HOUR_MS,
  media: (request, model) => {
    const resolution = resolutionFor(request, model)
    const seconds = choose('seconds', request.seconds, lengthsOf(model))
    return { seconds, resolution, ...madeSizeOf(request, model, resolution), options: [] }
  },
  submit: (request, { seconds, resolution }, { model }) => {
    const name = resolution ?? '720p'
    return {
      method: 'POST',
      path: `/api/v1/services/aigc/${serviceOf(model)}/video-synthesis`,
      headers: { 'x-dashscope-async': 'enable' },
      body: {
        model,
        input: defined({
          prompt: request.prompt,
          negative_prompt: request.negativePrompt,
          ...picturesOf(request, model),
        }),
        parameters: defined({
          ...pixelsOf(request, model, name),
          duration: FIXED_LENGTH.test(model) ? null : seconds,
          seed: request.seed,
        }),
      },
    }
  },
  readSubmitted: ({ output, code, message }) => {
    const { task_id: id } = objectOrEmpty(output)
    if (id !== undefined) return accepted(id)
    return refused(code === undefined ? null : 4, message, causeOf(code))
  },
  query: (upstreamId) => ({
    method: 'GET',
    path: `/api/v1/tasks/${encodeURIComponent(upstreamId)}`,
  }),
  readReport: ({ output, usage }) => {
    const task = objectOrEmpty(output)
    // DashScope does not know the task yet, or no longer knows it, because it keeps tasks for a
    // day.
    if (task.task_status === 'UNKNOWN') return { status: 'FAILURE', isMissing: true }
    const status = statusOf(task.task_status)
    if (status === undefined) return null
    const { video_duration: length, duration } = objectOrEmpty(usage)
    return {
      status,
      failReason: providerTextOf(task.message),
      file: providerTextOf(task.video_url),
      seconds: countOf(length) ?? countOf(duration),
    }
  },
  source: (_id, url) => ({ kind: 'address', url }),
}

const serviceOf = (model: string): string =>
  BETWEEN_FRAMES.test(model) ? 'image2video' : 'video-generation'

/** Returns the pictures of a request. Throws `TaskRequestError` if they do not fit the model. */
function picturesOf({ images: [image], lastImage }: VideoRequest, model: string): object {
  if (BETWEEN_FRAMES.test(model)) {
    return {
      first_frame_url: image ?? rejectParam('image', true),
      last_frame_url: lastImage ?? rejectParam('last_image', true),
    }
  }
  if (SINCE_2_7.test(model) && image !== undefined) {
    const last = lastImage === null ? [] : [{ type: 'last_frame', url: lastImage }]
    return { media: [{ type: 'first_frame', url: image }, ...last] }
  }
  if (lastImage !== null) rejectPictures('last_image', 0)
  return { img_url: image }
}

/**
 * Returns the parameters with the resolution. If the request has a picture, the picture determines
 * the ratio of the video.
 */
function pixelsOf(request: VideoRequest, model: string, resolution: string) {
  const byName = { resolution: resolution.toUpperCase() }
  if (request.images.length > 0) return byName
  return SINCE_2_7.test(model)
    ? { ...byName, ratio: ratioOf(request) ?? '16:9' }
    : { size: sizeOf(request, resolution) }
}

/**
 * Returns the size of the video. A picture determines the ratio, so the size is then not known.
 * Wan 2.7 and later choose the size by the resolution and the ratio.
 */
function madeSizeOf(request: VideoRequest, model: string, resolution: string) {
  if (request.images.length > 0) return { size: null }
  if (SINCE_2_7.test(model)) return {}
  return { size: asWritten(sizeOf(request, resolution)) }
}

/**
 * Returns the size of the video with the requested ratio, or with 16:9 if none is requested. Throws
 * `TaskRequestError` if the resolution has no such size, because the caller would otherwise pay for
 * a video of another shape.
 */
function sizeOf(request: VideoRequest, resolution: string): string {
  const sizes = SIZES[resolution] ?? {}
  if (request.ratio !== null) choose('aspect_ratio', request.ratio, Object.keys(sizes))
  const size = sizes[ratioOf(request) ?? '16:9']
  return size ?? reject('size', Object.values(sizes).map(asWritten))
}

/** Returns a size of the vendor as callers write it, such as `1280x720` for `1280*720`. */
const asWritten = (size: string): string => size.replace('*', 'x')
