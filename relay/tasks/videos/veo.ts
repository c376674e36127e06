import { listOf, objectOf } from '../read-task-request-body.ts'
import {
  accepted,
  choose,
  dataUrl,
  defined,
  ratioOf,
  refused,
  reject,
  resolutionOf,
  secondsWithin,
  type VideoVendor,
  wordsOf,
} from './video-vendor.ts'

/** Veo's videos in the Gemini API (ai.google.dev/gemini-api/docs/video). */
export const VEO: VideoVendor = {
  platform: 'veo',
  media: (request, model) => {
    const isOld = model.startsWith('veo-2')
    const offered = isOld ? ['720p'] : ['720p', '1080p', '4k']
    const resolution = choose('resolution', nameOf(resolutionOf(request)), offered)
    const seconds = secondsWithin(request.seconds, 8, [4, 8])
    return { seconds, resolution, size: request.size, options: [] }
  },
  submit: (request, { seconds, resolution }, { model }) => {
    const [image] = request.images
    const isOld = model.startsWith('veo-2')
    return {
      method: 'POST',
      path: `/v1beta/models/${encodeURIComponent(model)}:predictLongRunning`,
      body: {
        instances: [
          defined({
            prompt: request.prompt,
            image: image === undefined ? null : inlined('image', image),
            lastFrame: request.lastImage === null ? null : inlined('last_frame', request.lastImage),
          }),
        ],
        parameters: defined({
          sampleCount: 1,
          durationSeconds: seconds,
          resolution: isOld ? null : resolution,
          aspectRatio: ratioOf(request),
          negativePrompt: request.negativePrompt,
          seed: isOld ? null : request.seed,
        }),
      },
    }
  },
  readSubmitted: ({ name, error }) => {
    const [, operation] = /^models\/([\w.-]+\/operations\/[\w.-]+)$/.exec(String(name)) ?? []
    return operation === undefined ? refused(null, objectOf(error).message) : accepted(operation)
  },
  query: (upstreamId) => ({ method: 'GET', path: `/v1beta/models/${upstreamId}` }),
  readReport: ({ name, done, error, response }) => {
    if (done !== true) return typeof name === 'string' ? { status: 'IN_PROGRESS' } : null
    const failure = objectOf(error)
    if (failure.message !== undefined) {
      return { status: 'FAILURE', failReason: wordsOf(failure.message) }
    }
    const made = objectOf(objectOf(response).generateVideoResponse)
    const [sample] = listOf(made.generatedSamples)
    const file = wordsOf(objectOf(sample?.video).uri)
    if (file !== null) return { status: 'SUCCESS', file }
    const reasons = made.raiMediaFilteredReasons
    return { status: 'FAILURE', failReason: Array.isArray(reasons) ? wordsOf(reasons[0]) : null }
  },
  source: (_id, url) => ({ kind: 'address', url, needsKey: true }),
}

const nameOf = (resolution: string | null): string | null =>
  resolution === '2160p' ? '4k' : resolution

/** The Gemini API accepts only pictures within the request. */
function inlined(param: string, image: string): object {
  const inline = dataUrl(image) ?? reject(param)
  return { bytesBase64Encoded: inline.data, mimeType: inline.type }
}
