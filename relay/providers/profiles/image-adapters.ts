import { type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import type { SentImage } from '#relay/dialects/openai-images/image-price-factor-and-tokens.ts'
import { type Member, scanObject } from '#relay/dialects/scan-request-object.ts'
import { blockedAnswer, errorIn, imagesAnswer, imagesOf } from './convert-image-answer.ts'
import {
  aspectRatioOf,
  type CarriedBy,
  dashScopeSizeOf,
  type ImageRequest,
  isQuarterMegapixel,
  isRatio,
  lossesFor,
  MORE_RATIOS,
  type NamedSize,
  offeredSizeOf,
  picturesOf,
  replicateSidesOf,
  sidesAtMiniMax,
  takesRatioAtReplicate,
  xaiQualityOf,
  xaiRatioOf,
  xaiResolutionOf,
  xaiSizeOf,
} from './image-size-and-losses.ts'
import { DASH_SCOPE_TASK, type ImageTask, PREDICTION_TASK } from './image-tasks.ts'
import { accountErrorOfMiniMax } from './minimax-errors.ts'

/**
 * Adapts requests and answers of OpenAI's images API to an endpoint with another format. The
 * endpoint can't stream. If the caller requested a stream, the complete answer is rendered as a
 * stream.
 */
export type ImageAdapter = {
  /**
   * Returns the body of the provider's request. If the provider does not support a member, returns
   * the name of the member as `unsupported`.
   */
  readonly requestOf: (
    request: ImageRequest,
    model: string,
  ) => object | { readonly unsupported: string }
  /**
   * Returns the size and the quality by which an image is priced. The values are those in the
   * provider's request, or null if the price does not depend on them.
   */
  readonly sentImageOf: (request: ImageRequest, model: string) => SentImage
  /** Converts a provider's answer to OpenAI's images API. `created` is in Unix seconds. */
  readonly answer: (body: Buffer, created: number) => Buffer
  /** Returns the names of the members of a request that are not sent to the provider. */
  readonly lossesOf: (request: object, model: string) => readonly string[]
  /**
   * How the provider's tasks are started and polled. Omitted if the provider does not generate
   * images as tasks.
   */
  readonly task?: ImageTask
}

const unsupportedIn = ({ n, image }: Pick<ImageRequest, 'n' | 'image'>, imagesMax: number) =>
  (n ?? 1) > imagesMax
    ? { unsupported: 'n' }
    : image === undefined || image === null
      ? null
      : { unsupported: 'image' }

/** The size and the quality of an image whose price depends on neither. */
const USUAL_IMAGE: SentImage = { size: null, quality: null }

/** Without this parameter, Imagen's answer to a blocked prompt is empty. */
const REASONS = { includeRaiReason: true }

/** Adapter for Imagen's `predict`, which returns images only as data. */
export const IMAGEN: ImageAdapter = {
  lossesOf: lossesFor('imagen'),
  requestOf: (request: CarriedBy<'imagen'>, model) => {
    const sampleImageSize = offeredSizeOf('imagen', request.size, model) === '2K' ? '2K' : undefined
    const aspectRatio = aspectRatioOf(request.size)
    return (
      unsupportedIn(request, 4) ?? {
        instances: [{ prompt: request.prompt }],
        parameters: { sampleCount: request.n ?? 1, aspectRatio, sampleImageSize, ...REASONS },
      }
    )
  },
  // An image of 2K costs as much as one of 1K, as in a request of Imagen's own format.
  sentImageOf: () => USUAL_IMAGE,
  answer: (body, created) => {
    if (body.includes('"error"')) return body
    const images = imagesOf(body, 'bytesBase64Encoded', 'b64_json')
    const isBlocked = images.length === 0 && body.includes('"raiFilteredReason"')
    return isBlocked ? blockedAnswer(created) : imagesAnswer(images, created)
  },
}

/**
 * Matches the reasons that Gemini states if it refuses to generate an image
 * (ai.google.dev/api/generate-content#FinishReason).
 */
const BLOCKED_BY_GEMINI =
  /"blockReason"|"finishReason"\s*:\s*"(?:BLOCKLIST|SPII|(?:IMAGE_)?(?:SAFETY|PROHIBITED_CONTENT|RECITATION))"/

/** Adapter for images from Gemini's `generateContent`, which generates one image per request. */
export const GEMINI_CONTENT: ImageAdapter = {
  lossesOf: lossesFor('geminiContent'),
  requestOf: (request: CarriedBy<'geminiContent'>, model) => {
    const aspectRatio = aspectRatioOf(request.size, MORE_RATIOS)
    const imageSize = largerSizeOf(offeredSizeOf('geminiContent', request.size, model))
    const isUsual = aspectRatio === undefined && imageSize === undefined
    const config = isUsual ? {} : { imageConfig: { aspectRatio, imageSize } }
    return (
      unsupportedIn(request, 1) ?? {
        contents: [{ role: 'user', parts: [{ text: request.prompt }] }],
        generationConfig: { responseModalities: ['IMAGE'], ...config },
      }
    )
  },
  sentImageOf: ({ size }, model) => ({
    size: largerSizeOf(offeredSizeOf('geminiContent', size, model)) ?? null,
    quality: null,
  }),
  answer: (body, created) => {
    const members = scanObject(body)
    if (!Array.isArray(members)) return body
    const find = (name: string) => (members as Member[]).find(({ key }) => key === name)
    if (find('error') !== undefined) return body
    const usage = find('usageMetadata')
    const raw = usage === undefined ? null : body.toString('utf8', usage.valueStart, usage.valueEnd)
    const images = imagesOf(body, 'data', 'b64_json')
    const converted = raw === null ? null : usageOf(objectOrEmpty(JSON.parse(raw)))
    const isBlocked = images.length === 0 && BLOCKED_BY_GEMINI.test(body.toString('latin1'))
    return isBlocked ? blockedAnswer(created, converted) : imagesAnswer(images, created, converted)
  },
}

/**
 * Returns the size, or undefined for null and for the default size `1K`, which need not be sent.
 */
const largerSizeOf = (size: NamedSize | null): NamedSize | undefined =>
  size === null || size === '1K' ? undefined : size

function usageOf(metadata: JsonObject): object {
  const count = (value: unknown): number => (typeof value === 'number' ? value : 0)
  const ofImages = (details: unknown): number =>
    (Array.isArray(details) ? details : [])
      .map(objectOrEmpty)
      .filter(({ modality }) => modality === 'IMAGE')
      .reduce((sum, { tokenCount }) => sum + count(tokenCount), 0)
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount } = metadata
  const output = count(candidatesTokenCount) + count(thoughtsTokenCount)
  const images = ofImages(metadata.candidatesTokensDetails)
  return {
    input_tokens: promptTokenCount,
    input_tokens_details: { image_tokens: ofImages(metadata.promptTokensDetails) },
    output_tokens: output,
    output_tokens_details: { image_tokens: images, text_tokens: Math.max(0, output - images) },
  }
}

/** Returns the requested size. Returns null if the request leaves the choice to the provider. */
const ownSizeOf = (size: string | null | undefined): string | null =>
  size === undefined || size === 'auto' ? null : size

/** Returns the size that is sent to SiliconFlow. Its own member takes precedence over `size`. */
const siliconFlowSizeOf = ({
  size,
  image_size: own,
}: Pick<ImageRequest, 'size' | 'image_size'>): string | null =>
  ownSizeOf(typeof own === 'string' ? own : size)

/** Adapter for SiliconFlow's images API, whose members have other names. */
export const SILICON_FLOW: ImageAdapter = {
  lossesOf: lossesFor('siliconFlow'),
  requestOf: (request: CarriedBy<'siliconFlow'>, model) => {
    const { prompt, n, image, negative_prompt, seed, guidance_scale } = request
    const { num_inference_steps } = request
    const image_size = siliconFlowSizeOf(request) ?? undefined
    return {
      ...{ model, prompt, image_size, batch_size: n ?? 1, image: image ?? undefined },
      ...{ negative_prompt, seed, guidance_scale, num_inference_steps },
    }
  },
  sentImageOf: (request) => ({ size: siliconFlowSizeOf(request), quality: null }),
  answer: (body, created) => {
    const members = scanObject(body)
    const isOwn = Array.isArray(members) && !members.some(({ key }) => key === 'images')
    if (!Array.isArray(members) || isOwn) return body
    const images = (members as Member[]).find(({ key }) => key === 'images')
    const list = body.subarray(images?.valueStart ?? 0, images?.valueEnd ?? 0)
    return imagesAnswer(imagesOf(list, 'url', 'url'), created)
  },
}

/** Adapter for MiniMax's images API `image_generation`. */
export const MINIMAX_IMAGES: ImageAdapter = {
  lossesOf: lossesFor('miniMax'),
  requestOf: (request: CarriedBy<'miniMax'>, model) => {
    const { prompt, n, size, response_format: format, seed, aspect_ratio: own } = request
    const response_format = format === 'b64_json' ? 'base64' : 'url'
    const [width, height] = sidesAtMiniMax(request, model) ?? []
    const ratio = isRatio(own) ? own : aspectRatioOf(size, MORE_RATIOS)
    const shape = { aspect_ratio: width === undefined ? ratio : undefined, width, height }
    const body = { model, prompt, n: n ?? 1, ...shape, response_format, seed }
    return unsupportedIn(request, 9) ?? body
  },
  sentImageOf: (request, model) => ({
    size: sizeOfSides(sidesAtMiniMax(request, model)),
    quality: null,
  }),
  answer: (body, created) => {
    const images = [
      ...imagesOf(body, 'image_urls', 'url'),
      ...imagesOf(body, 'image_base64', 'b64_json'),
    ]
    const error = images.length > 0 ? null : errorIn(body, codeOfMiniMax)
    return error ?? imagesAnswer(images, created)
  },
}

const sizeOfSides = (sides: readonly [number, number] | null): string | null =>
  sides === null ? null : sides.join('x')

function codeOfMiniMax({ base_resp, error }: JsonObject) {
  const { status_code: code, status_msg: message } = objectOrEmpty(base_resp ?? error)
  return [accountErrorOfMiniMax(code), message] as const
}

/** Returns the size as DashScope writes it, such as `1328*1328`. */
const starSizeOf = (size: string | null | undefined, model: string): string | undefined =>
  dashScopeSizeOf(size, model)?.replace('x', '*')

/** DashScope charges the same for each generated image, whatever its size. */
const imageOfDashScope = (): SentImage => USUAL_IMAGE

const messagesBody = (model: string, content: readonly object[], parameters: object): object => ({
  model,
  input: { messages: [{ role: 'user', content }] },
  parameters,
})

function answerOfDashScope(body: Buffer, created: number): Buffer {
  const images = imagesOf(body, 'image', 'url')
  const error = images.length > 0 ? null : errorIn(body, ({ code, message }) => [code, message])
  return error ?? imagesAnswer(images, created)
}

/**
 * The maximum number of images of Wan in one request. DashScope's other models except Z-Image
 * refuse a request for too many images themselves.
 */
const WAN_IMAGES_MAX = 4

/**
 * Returns `{ unsupported }` with the name of a member that DashScope's image editing models don't
 * support: `n` above the maximum of Wan's models, or `mask`. Returns null if there is none.
 */
function unsupportedByEditor({ n, mask }: Pick<ImageRequest, 'n' | 'mask'>, model: string) {
  if (model.startsWith('wan') && (n ?? 1) > WAN_IMAGES_MAX) return { unsupported: 'n' }
  // These models accept no mask. Without the mask, an edit would change the whole image.
  return mask === undefined || mask === null ? null : { unsupported: 'mask' }
}

/** Adapter for DashScope's synchronous image models. Some of them also edit the caller's images. */
export const DASH_SCOPE: ImageAdapter = {
  lossesOf: lossesFor('dashScope'),
  requestOf: (request: CarriedBy<'dashScope'>, model) => {
    const { prompt, n, size, negative_prompt, seed, watermark } = request
    const unsupported = unsupportedByEditor(request, model)
    if (unsupported !== null) return unsupported
    const content = [...picturesOf(request).map((image) => ({ image })), { text: prompt }]
    // `n` is always sent, because Wan edits an image four times by default.
    const parameters = { n: n ?? 1, size: starSizeOf(size, model) }
    return messagesBody(model, content, { ...parameters, negative_prompt, seed, watermark })
  },
  sentImageOf: imageOfDashScope,
  answer: answerOfDashScope,
}

/**
 * Adapter for DashScope's Z-Image, which generates one image per request from a text
 * (alibabacloud.com/help/en/model-studio/z-image-api-reference).
 */
export const Z_IMAGE: ImageAdapter = {
  lossesOf: lossesFor('zImage'),
  requestOf: (request: CarriedBy<'zImage'>, model) => {
    const { prompt, size, seed } = request
    const parameters = { size: starSizeOf(size, model), seed }
    return unsupportedIn(request, 1) ?? messagesBody(model, [{ text: prompt }], parameters)
  },
  sentImageOf: imageOfDashScope,
  answer: answerOfDashScope,
}

/** Adapter for DashScope's image models that run as tasks. */
export const DASH_SCOPE_TASKS: ImageAdapter = {
  lossesOf: lossesFor('dashScope'),
  task: DASH_SCOPE_TASK,
  requestOf: (request: CarriedBy<'dashScope'>, model) => {
    const { prompt, n, size, negative_prompt, seed, watermark } = request
    const parameters = { n: n ?? 1, size: starSizeOf(size, model), seed, watermark }
    return (
      unsupportedIn(request, WAN_IMAGES_MAX) ?? {
        model,
        input: { prompt, negative_prompt },
        parameters,
      }
    )
  },
  sentImageOf: imageOfDashScope,
  answer: (body, created) => imagesAnswer(imagesOf(body, 'url', 'url'), created),
}

/**
 * Adapter for Wan 2.5, which edits the caller's images as a task
 * (docs.qwencloud.com/api-reference/image-generation/wan25-general-image-editing/create-task).
 */
export const DASH_SCOPE_EDIT_TASKS: ImageAdapter = {
  ...DASH_SCOPE_TASKS,
  requestOf: (request: CarriedBy<'dashScope'>, model) => {
    const { prompt, n, size, negative_prompt, seed, watermark } = request
    const unsupported = unsupportedByEditor(request, model)
    if (unsupported !== null) return unsupported
    const input = { prompt, images: picturesOf(request), negative_prompt }
    // `n` is always sent, because the model generates four images by default.
    const parameters = { n: n ?? 1, size: starSizeOf(size, model), seed, watermark }
    return { model, input, parameters }
  },
}

/**
 * The smaller of the two image sizes that some models of Replicate offer, in millions of pixels.
 */
const QUARTER_MEGAPIXEL = '0.25'

/** Returns the inputs that state the size and the shape of the images to a model of Replicate. */
function replicateShapeOf(
  { size, aspect_ratio: own }: Pick<ImageRequest, 'size' | 'aspect_ratio'>,
  model: string,
): object {
  const bySides = replicateSidesOf(size, model)
  if (bySides !== null) {
    const [width, height] = bySides.sides
    return { ...bySides.members, width, height }
  }
  const megapixels = isQuarterMegapixel(size, model) ? { megapixels: QUARTER_MEGAPIXEL } : {}
  const isOwn = isRatio(own) && takesRatioAtReplicate(model)
  return { aspect_ratio: isOwn ? own : aspectRatioOf(size), ...megapixels }
}

/** Adapter for Replicate's image models. The name of a model may end with a colon and a version. */
export const REPLICATE_IMAGES: ImageAdapter = {
  lossesOf: lossesFor('replicate'),
  task: PREDICTION_TASK,
  requestOf: (request: CarriedBy<'replicate'>, model) => {
    const { prompt, n, negative_prompt, seed } = request
    const shape = replicateShapeOf(request, model)
    // `num_outputs` is omitted for one image, because many models can generate only one and do not
    // know this input.
    const num_outputs = (n ?? 1) > 1 ? n : undefined
    const [, version] = model.split(':')
    const input = { prompt, ...shape, num_outputs, negative_prompt, seed }
    return unsupportedIn(request, 4) ?? { version, input }
  },
  sentImageOf: ({ size }, model) => {
    const bySides = replicateSidesOf(size, model)
    if (bySides !== null) return { size: sizeOfSides(bySides.sides), quality: null }
    return isQuarterMegapixel(size, model) ? { size: '512x512', quality: null } : USUAL_IMAGE
  },
  answer: (body, created) => imagesAnswer(imagesOf(body, 'output', 'url'), created),
}

/**
 * Adapter for xAI's images API. The API has OpenAI's format, but takes an aspect ratio and a
 * resolution instead of a size (docs.x.ai/docs/guides/image-generations). If a channel's override
 * sets these two members, they replace the size.
 */
export const XAI_IMAGES: ImageAdapter = {
  lossesOf: lossesFor('xai'),
  requestOf: (request: CarriedBy<'xai'>, model) => {
    const { prompt, n, quality, response_format, user } = request
    const shape = {
      aspect_ratio: xaiRatioOf(request, model),
      resolution: xaiResolutionOf(request, model),
      quality: xaiQualityOf(quality, model) ?? undefined,
    }
    const body = { model, prompt, n: n ?? 1, ...shape, response_format, user }
    return unsupportedIn(request, 10) ?? body
  },
  sentImageOf: (request, model) => ({
    size: xaiSizeOf(request, model) === '2K' ? '2K' : null,
    quality: xaiQualityOf(request.quality, model),
  }),
  answer: (body) => body,
}
