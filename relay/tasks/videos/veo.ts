import type { VideoMedia } from '#domain/tasks/events.ts'
import { type JsonObject, objectOrEmpty, textOrEmpty } from '#relay/canonical/json-values.ts'
import { listOfObjects } from '../parse-provider-json.ts'
import { chooseResolution, ratioOf } from './sizes-of-videos.ts'
import {
  accepted,
  dataUrl,
  defined,
  HOUR_MS,
  providerTextOf,
  refused,
  reject,
  secondsWithin,
  type VideoReport,
  type VideoRequest,
  type VideoVendor,
} from './video-vendor.ts'

/** The vendor Veo in the Gemini API (ai.google.dev/gemini-api/docs/video). */
export const VEO: VideoVendor = {
  platform: 'veo',
  imagesMax: 1,
  takesLastImage: true,
  fileMs: 48 * HOUR_MS,
  media: (request, model) => {
    const offered = isVeo2(model) ? ['720p'] : ['720p', '1080p', '4k']
    const resolution = chooseResolution(request, offered)
    const seconds = secondsWithin(request.seconds, 8, [4, 8])
    return { seconds, resolution, options: [] }
  },
  submit: (request, media, { model }) => ({
    method: 'POST',
    path: `/v1beta/models/${encodeURIComponent(model)}:predictLongRunning`,
    body: {
      instances: [instanceOf(request)],
      parameters: defined(parametersOf(request, media, model)),
    },
  }),
  readSubmitted: ({ name, error }) => {
    const [, operation] = /^models\/([\w.-]+\/operations\/[\w.-]+)$/.exec(textOrEmpty(name)) ?? []
    if (operation !== undefined) return accepted(operation)
    const { message, status } = objectOrEmpty(error)
    // `FAILED_PRECONDITION` means that the project has no billing or its country is not served
    // (ai.google.dev, "Troubleshooting").
    return refused(null, message, status === 'FAILED_PRECONDITION' ? 'account' : 'request')
  },
  query: (upstreamId) => ({ method: 'GET', path: `/v1beta/models/${upstreamId}` }),
  readReport: ({ name, done, error, response }) => {
    if (done !== true) return typeof name === 'string' ? { status: 'IN_PROGRESS' } : null
    const made = objectOrEmpty(objectOrEmpty(response).generateVideoResponse)
    const [sample] = listOfObjects(made.generatedSamples)
    return endOf(error, made, providerTextOf(objectOrEmpty(sample?.video).uri))
  },
  source: (_id, url) => ({ kind: 'address', url, needsKey: true }),
}

/**
 * Returns the report on an operation that has ended. `file` is null if the operation has made no
 * video.
 */
export function endOf(error: unknown, made: JsonObject, file: string | null): VideoReport {
  const failure = objectOrEmpty(error)
  if (failure.message !== undefined) {
    return { status: 'FAILURE', failReason: providerTextOf(failure.message) }
  }
  if (file !== null) return { status: 'SUCCESS', file }
  const reasons = made.raiMediaFilteredReasons
  return {
    status: 'FAILURE',
    failReason: Array.isArray(reasons) ? providerTextOf(reasons[0]) : null,
  }
}

export const isVeo2 = (model: string): boolean => model.startsWith('veo-2')

export function instanceOf({ prompt, images: [image], lastImage }: VideoRequest): object {
  return defined({
    prompt,
    image: image === undefined ? null : inlined('image', image),
    lastFrame: lastImage === null ? null : inlined('last_image', lastImage),
  })
}

/** Returns the parameters of a request for one video. A parameter without a value is null. */
export function parametersOf(
  request: VideoRequest,
  { seconds, resolution }: VideoMedia,
  model: string,
): Readonly<Record<string, unknown>> {
  return {
    sampleCount: 1,
    durationSeconds: seconds,
    resolution: isVeo2(model) ? null : resolution,
    aspectRatio: ratioOf(request),
    negativePrompt: request.negativePrompt,
    seed: isVeo2(model) ? null : request.seed,
  }
}

/**
 * Returns a picture as Google expects it within the request. A web URL is refused, because Google
 * does not fetch pictures.
 */
function inlined(param: string, image: string): object {
  const inline = dataUrl(image) ?? reject(param, ['data:image/png;base64,…'])
  return { bytesBase64Encoded: inline.data, mimeType: inline.type }
}
