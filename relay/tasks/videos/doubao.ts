import { TASK_MS_MAX } from '#domain/tasks/decide.ts'
import { objectOrEmpty, textOrEmpty } from '#relay/canonical/json-values.ts'
import {
  commandsOf,
  nameOfCommand,
  seedIn,
  switchIn,
  unreadCommands,
  withoutCommands,
} from './doubao-prompt-commands.ts'
import { chooseResolution, ratioOf } from './sizes-of-videos.ts'
import {
  accepted,
  causesByCode,
  choose,
  countOf,
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
  queued: 'QUEUED',
  running: 'IN_PROGRESS',
  succeeded: 'SUCCESS',
  failed: 'FAILURE',
  cancelled: 'FAILURE',
  expired: 'FAILURE',
})

/**
 * The causes of Ark's error codes (volcengine.com/docs/82379/1299023). Some codes for an exceeded
 * limit have a suffix after a dot. For a model that the account has not activated, Ark answers with
 * 404.
 */
const causeOfCode = causesByCode({
  key: ['AuthenticationError'],
  account: ['AccountOverdueError', 'AccessDenied', 'OperationDenied', 'SetLimitExceeded'],
  model: ['ModelNotOpen', 'InvalidEndpointOrModel', 'InvalidEndpoint', 'UnsupportedModel'],
  limit: ['RateLimitExceeded', 'QuotaExceeded', 'ServerOverloaded', 'RequestBurstTooFast'],
  provider: ['InternalServiceError'],
})

const TASKS = '/api/v3/contents/generations/tasks'
const pathOf = (upstreamId: string) => `${TASKS}/${encodeURIComponent(upstreamId)}`

/**
 * The maximum number of pixels of a frame, by resolution. The maximum applies to every aspect
 * ratio.
 */
const PIXELS: Readonly<Record<string, number>> = {
  '480p': 450_000,
  '720p': 1_000_000,
  '1080p': 2_250_000,
}
const FRAMES_PER_SECOND = 24
const PIXELS_PER_TOKEN = 1_024

/**
 * Returns the maximum number of tokens of a video. A video has width · height · frames / 1024
 * tokens. One second is added, because the vendor may add frames at both ends.
 */
const tokensMax = (resolution: string, seconds: number): number =>
  Math.ceil(((PIXELS[resolution] ?? 0) * FRAMES_PER_SECOND * (seconds + 1)) / PIXELS_PER_TOKEN)

/** Matches models that make videos without sound. */
const SILENT = /seedance-1-0/

/**
 * Returns the value of `generate_audio`, or undefined if the parameter is not sent. The price
 * depends on the sound, and some models make a video with sound unless a request turns it off. The
 * name of an endpoint, such as `ep-2026`, does not show which model the endpoint has. Therefore,
 * the parameter is sent for every model that may make sound, and is false if the request does not
 * ask for sound. Models without sound ignore the parameter.
 */
const soundOf = (request: VideoRequest, model: string): boolean | undefined =>
  SILENT.test(model) ? undefined : (request.hasAudio ?? false)

/** The vendor Doubao, with its video API on Volcengine Ark (volcengine.com/docs/82379/1520757). */
export const DOUBAO: VideoVendor = {
  platform: 'doubao',
  imagesMax: 8,
  takesLastImage: true,
  countsTokens: true,
  fileMs: 24 * HOUR_MS,
  media: (request, model) => {
    const commands = commandsOf(request.prompt)
    const isPro = /seedance-1-0-pro/.test(model)
    const offered = isPro ? ['1080p', '720p', '480p'] : ['720p', '480p', '1080p']
    const command = commands.get('resolution')
    const isNamed = request.resolution !== null || request.size !== null
    const resolution =
      isNamed || command === undefined
        ? chooseResolution(request, offered)
        : choose(nameOfCommand(request.prompt, 'resolution'), command, offered)
    const length = commands.get('duration')
    const range = [2, 15] as const
    const seconds =
      request.seconds !== null || length === undefined
        ? secondsWithin(request.seconds, 5, range)
        : secondsWithin(Number(length), 5, range, nameOfCommand(request.prompt, 'duration'))
    const options = !SILENT.test(model) && request.hasAudio === true ? ['audio'] : []
    return { seconds, resolution, options, tokensMax: tokensMax(resolution, seconds) }
  },
  unreadCommands,
  submit: (request, { seconds, resolution }, { model }) => {
    const commands = commandsOf(request.prompt)
    const [first] = request.images
    const { lastImage } = request
    const hasEnds = first !== undefined && lastImage !== null
    return {
      method: 'POST',
      path: TASKS,
      body: defined({
        model,
        content: [
          { type: 'text', text: withoutCommands(request.prompt) },
          ...picturesOf(request, hasEnds),
        ],
        resolution,
        duration: seconds,
        ratio: ratioOf(request) ?? commands.get('ratio'),
        seed: request.seed ?? seedIn(commands),
        camera_fixed: switchIn(commands, 'camerafixed'),
        watermark: switchIn(commands, 'watermark'),
        generate_audio: soundOf(request, model),
        // Without this limit, the vendor would finish and charge videos for up to two days, long
        // after their tasks have expired here.
        execution_expires_after: TASK_MS_MAX / 1_000,
      }),
    }
  },
  readSubmitted: ({ id, error }) => {
    if (id !== undefined) return accepted(id)
    const { code, message } = objectOrEmpty(error)
    return refused(null, message, causeOfCode(textOrEmpty(code).split('.', 1)[0]))
  },
  query: (upstreamId) => ({ method: 'GET', path: pathOf(upstreamId) }),
  remove: (upstreamId) => ({ method: 'DELETE', path: pathOf(upstreamId) }),
  readReport: ({ status: state, error, content, usage, duration }) => {
    const status = statusOf(state)
    if (status === undefined) return null
    const { total_tokens: total, completion_tokens: tokens } = objectOrEmpty(usage)
    return {
      status,
      failReason: providerTextOf(objectOrEmpty(error).message),
      file: providerTextOf(objectOrEmpty(content).video_url),
      seconds: countOf(duration),
      tokens: countOf(total) ?? countOf(tokens),
    }
  },
  source: (_id, url) => ({ kind: 'address', url }),
}

const picturesOf = ({ images, lastImage }: VideoRequest, hasEnds: boolean): readonly object[] => [
  ...images.map((url) => ({
    type: 'image_url',
    image_url: { url },
    ...(hasEnds ? { role: 'first_frame' } : images.length > 1 ? { role: 'reference_image' } : {}),
  })),
  ...(lastImage === null
    ? []
    : [{ type: 'image_url', image_url: { url: lastImage }, role: 'last_frame' }]),
]
