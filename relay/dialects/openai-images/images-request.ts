import { namesByFoldedName } from '#domain/shared/fold-name-case.ts'
import { isRelayError, type RelayError, relayError } from '#relay/canonical/relay-error.ts'
import { jsonError } from '../invalid-json-error.ts'
import { OPENAI_ERRORS } from '../openai-chat/error-body.ts'
import { type InputBound, inputBoundOf } from '../openai-chat/input-token-bound.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { answerCheck, usageInAnswer } from '../openai-chat/usage-in-answer.ts'
import { flagOf, isMembers, modelOf, RESERVED, wholeOf } from '../read-request-members.ts'
import type { JsonKind } from '../scan-json-tokens.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import type { ChatRequest, WireFormat } from '../wire-format.ts'
import { imageFactorOf, imageTokensOf } from './image-prices.ts'
import { IMAGE_STREAM } from './image-stream.ts'
import { readImageUsage } from './image-usage.ts'
import { readDeliveredImages } from './read-delivered-images.ts'

/** The highest number of images of one request. */
export const IMAGES_MAX = 10
const PARTIAL_IMAGES_MAX = 3
const TEXT: readonly JsonKind[] = ['string']
const FLAG: readonly JsonKind[] = ['true', 'false']
/** The JSON kinds of the members that are sent. A null counts as an absent member. */
const FIELDS: ReadonlyMap<string, readonly JsonKind[]> = new Map<string, readonly JsonKind[]>([
  ...['model', 'prompt', 'size', 'quality', 'response_format', 'style', 'background'].map(
    (name) => [name, TEXT] as const,
  ),
  ...['moderation', 'output_format', 'user', 'negative_prompt'].map(
    (name) => [name, TEXT] as const,
  ),
  ...['n', 'partial_images', 'output_compression', 'seed', 'guidance_scale'].map(
    (name) => [name, ['number']] as [string, readonly JsonKind[]],
  ),
  ['stream', FLAG],
  ['watermark', FLAG],
  ['image', ['string', 'array']],
])
const NAMES = namesByFoldedName([...FIELDS.keys()])
const NO_NAMES = namesByFoldedName([])
const NAME_LENGTH_MAX = 32

const invalid = (param: string): RelayError => relayError('invalid_parameter', { param })

/** Returns a short text, or null for an absent one. A long text is cut, and then not known. */
function textOf(body: Buffer, member: Member | undefined): string | null {
  if (member?.kind !== 'string') return null
  const { valueStart, valueEnd } = member
  if (valueEnd - valueStart > NAME_LENGTH_MAX * 6) return '?'
  return JSON.parse(body.toString('utf8', valueStart, valueEnd)) as string
}

/**
 * Reads a request for images without building objects. Each choice is one image. `known` is empty
 * if a checked request is read again after a change.
 */
export function readImagesRequest(body: Buffer, known = NAMES): ChatRequest | RelayError {
  const members = scanObject(body, known)
  if (!isMembers(members)) return jsonError(body, members)
  const find = (key: string) => members.find((member) => member.key === key)
  if (find(RESERVED) !== undefined) return invalid(RESERVED)
  const model = modelOf(body, find('model'))
  if (typeof model !== 'string') return model
  const prompt = find('prompt')
  if (prompt === undefined || prompt.kind === 'null') {
    return relayError('missing_parameter', { param: 'prompt' })
  }
  const misfit = members.find(
    ({ key, kind }) => kind !== 'null' && FIELDS.get(key)?.includes(kind) === false,
  )
  if (misfit !== undefined) return invalid(misfit.key)
  if (textOf(body, prompt) === '') return invalid('prompt')
  const images = wholeOf(body, find('n'), 1, IMAGES_MAX)
  if (images === undefined) return invalid('n')
  const partialImages = wholeOf(body, find('partial_images'), 0, PARTIAL_IMAGES_MAX)
  if (partialImages === undefined) return invalid('partial_images')
  const isStream = flagOf(find('stream')) === true
  // The events of a stream do not tell which image they belong to, or which event is the last.
  if (isStream && (images ?? 1) > 1) return invalid('n')
  const size = textOf(body, find('size'))
  const quality = textOf(body, find('quality'))
  return {
    format: OPENAI_IMAGES,
    body,
    members,
    model,
    isStream,
    wantsUsage: true,
    choices: images ?? 1,
    outputTokensMax: imageTokensOf(model, size, quality, isStream ? (partialImages ?? 0) : 0),
    imageFactor: imageFactorOf(size, quality),
    reasoningEffort: null,
    inputBound: boundOf(body, members, find('image')),
    tools: [],
  }
}

/** Returns the bounds of the input. Images that the request contains are pictures of it. */
function boundOf(body: Buffer, members: readonly Member[], image: Member | undefined): InputBound {
  const picture = image === undefined || image.kind === 'null' ? 0 : Math.max(1, image.length)
  const counts = { picture, video: 0, audio: 0, file: 0, storedReasoning: 0 }
  return inputBoundOf(body, members, { counts, hasUnknown: false, tools: [] })
}

const OUTLINED: ReadonlySet<string> = new Set(['n', 'size', 'quality', 'partial_images'])

/** Returns an outline with as many images of the same size and quality, but a short prompt. */
function outlineOf({ body, members, model, isStream }: ChatRequest): ChatRequest {
  const limits = members.flatMap(({ key, valueStart, valueEnd }) =>
    OUTLINED.has(key) && valueEnd - valueStart <= NAME_LENGTH_MAX * 6
      ? [`"${key}":${body.toString('utf8', valueStart, valueEnd)}`]
      : [],
  )
  const head = `"model":${JSON.stringify(model)},"stream":${isStream},"prompt":"x"`
  const outline = readImagesRequest(Buffer.from(`{${[head, ...limits].join()}}`), NO_NAMES)
  if (isRelayError(outline)) throw new Error(`the outline of a request is invalid: ${outline.code}`)
  return outline
}

const RULES = {
  limits: [],
  addedLimit: () => 'n',
  // Other members could multiply the images, such as `batch_size`, or choose another price.
  isRestricted: (folded: string) => !FIELDS.has(folded),
}

/** OpenAI's `POST /v1/images/generations`. */
export const OPENAI_IMAGES: WireFormat = {
  name: 'images',
  promptMember: 'prompt',
  readRequest: (body) => readImagesRequest(body),
  readChangedRequest: (body) => readImagesRequest(body, NO_NAMES),
  shortBody: ({ model }) => ({ model, prompt: 'a dot' }),
  outlineOf,
  upstreamBody: (request, change) =>
    upstreamBody(request, { ...change, forcesUsage: false, outputTokens: null }, RULES),
  passedHeaders: () => [],
  usageInAnswer,
  readUsage: readImageUsage,
  errorOfAnswer: answerCheck('data'),
  streamOfAnswer,
  readTexts: readDeliveredImages,
  stream: IMAGE_STREAM,
  errors: OPENAI_ERRORS,
}

/**
 * Renders a complete answer with one image as the last event of a stream. The members of the image
 * become members of the event.
 */
function streamOfAnswer(body: Buffer): string {
  const { data, created, usage } = JSON.parse(body.toString('utf8')) as Record<string, unknown>
  const [image] = Array.isArray(data) ? (data as unknown[]) : []
  const type = 'image_generation.completed'
  const event = { type, ...(image as object | undefined), created_at: created, usage }
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`
}
