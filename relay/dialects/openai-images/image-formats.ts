import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { TOKENS_MAX } from '#relay/canonical/provider-usage-report.ts'
import {
  invalidParameter,
  isRelayError,
  missingParameter,
  notOneOf,
  type RelayError,
} from '#relay/canonical/relay-error.ts'
import type { FormRules } from '#relay/uploads/form-field-types.ts'
import { type NestedMemberRules, nestedMemberRules } from '../check-nested-json-members.ts'
import { OPENAI_ERRORS } from '../openai-chat/error-format.ts'
import type { InputBound } from '../openai-chat/input-token-bound.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { usageInAnswer } from '../openai-chat/usage-in-answer.ts'
import {
  errorInMessages,
  errorInText,
  flagOf,
  integerOf,
  isMembers,
  membersAndModel,
  notOfKinds,
  outOfRange,
  shortTextOf,
  validOutline,
} from '../read-common-request-members.ts'
import type { JsonKind } from '../scan-json-tokens.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import type { ChatRequest, WireFormat } from '../wire-format.ts'
import { base64BytesOf, imageFactorOf, imageTokensOf } from './image-price-factor-and-tokens.ts'
import {
  countDeliveredImages,
  errorOfImages,
  errorWithoutImage,
  IMAGE_STREAM,
  readImageUsage,
  streamOfImage,
} from './read-image-answers.ts'

/** The maximum number of images that one request may ask for. */
const IMAGES_MAX = 10
const PARTIAL_IMAGES_MAX = 3
/**
 * The values of `response_format` that OpenAI defines. Null means that the member is absent. An
 * operator's override may request any other value that the provider offers.
 */
const RESPONSE_FORMATS: ReadonlySet<string | null> = new Set(['url', 'b64_json', null])
const TEXT: readonly JsonKind[] = ['string']
const FLAG: readonly JsonKind[] = ['true', 'false']
/**
 * The JSON kinds of the members that requests to generate and to edit images have in common. A null
 * counts as an absent member.
 */
const COMMON: readonly (readonly [string, readonly JsonKind[]])[] = [
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
]

/** The differences between requests to generate, to edit and to vary images. */
type Kind = {
  readonly format: 'images' | 'image-edits' | 'image-variations'
  /** Returns the wire format of requests of this kind. */
  readonly wireFormat: () => WireFormat
  /** True for requests without a prompt. */
  readonly hasNoPrompt?: true
  /** The rules for reading a form. Omitted if requests of this kind are always JSON. */
  readonly form?: FormRules
  /**
   * The members that may refer to uploaded files of a form. A request must have exactly one of them
   * besides `mask`, which is optional. Omitted if the body is JSON.
   */
  readonly files?: readonly string[]
  /** The type of the stream event with a complete image. */
  readonly lastEvent: string
  /** The JSON kinds of the members that are sent to the provider. */
  readonly fields: ReadonlyMap<string, readonly JsonKind[]>
  /** The members with the caller's images. */
  readonly pictures: readonly string[]
  readonly rules: NestedMemberRules | null
}

const GENERATION: Kind = {
  format: 'images',
  wireFormat: () => OPENAI_IMAGES,
  lastEvent: 'image_generation.completed',
  fields: new Map([...COMMON, ['image', ['string', 'array']]]),
  pictures: ['image'],
  rules: null,
}
const FORM_NUMBERS = ['n', 'partial_images', 'output_compression']
const EDIT_TEXTS = [
  ...['model', 'prompt', 'size', 'quality', 'response_format', 'background', 'output_format'],
  ...['input_fidelity', 'moderation', 'user'],
]
const EDIT: Kind = {
  format: 'image-edits',
  wireFormat: () => OPENAI_IMAGE_EDITS,
  form: {
    ...{ files: ['image', 'image[]', 'mask'], numbers: FORM_NUMBERS, flags: ['stream'] },
    ...{ texts: EDIT_TEXTS, isJsonAccepted: true },
  },
  lastEvent: 'image_edit.completed',
  fields: new Map([
    ...COMMON,
    ...([
      ['images', ['array']],
      ['mask', ['object']],
      ['input_fidelity', TEXT],
    ] as const),
  ]),
  pictures: ['images', 'mask'],
  // A file id is refused, because files belong to the operator's account at the provider. With an
  // id, a caller could read a file of another caller.
  rules: nestedMemberRules('images', { image_url: ['string'], file_id: ['null'] }),
}
/**
 * An edit whose images are uploaded as files of a form. A form can't contain images in any other
 * way.
 */
const EDIT_FORM: Kind = {
  ...EDIT,
  wireFormat: () => OPENAI_IMAGE_EDIT_FORMS,
  fields: new Map([
    ...COMMON,
    ...([
      ['image', ['object']],
      ['image[]', ['array']],
      ['mask', ['object']],
      ['input_fidelity', TEXT],
    ] as const),
  ]),
  files: ['image', 'image[]', 'mask'],
  pictures: ['image', 'image[]', 'mask'],
  rules: null,
}
const VARIATION: Kind = {
  format: 'image-variations',
  wireFormat: () => OPENAI_IMAGE_VARIATIONS,
  lastEvent: 'image_edit.completed',
  hasNoPrompt: true,
  form: {
    ...{ files: ['image'], numbers: ['n'], flags: [] },
    texts: ['model', 'size', 'response_format', 'user'],
  },
  fields: new Map([
    ['image', ['object']],
    ...['model', 'size', 'response_format', 'user'].map((name) => [name, TEXT] as const),
    ['n', ['number']],
  ]),
  files: ['image'],
  pictures: ['image'],
  rules: null,
}
/** The maximum number of image files in a form. */
const FILES_MAX = 16
/** The known names of the members of `mask`. */
const MASK = namesByFoldedName(['image_url', 'file_id'])
const NO_NAMES = namesByFoldedName([])
/** The maximum number of input tokens for one image that the caller sends. */
const PICTURE_TOKENS = 8_000
const NAME_LENGTH_MAX = 32

/**
 * Reads an image request without parsing it into objects. Each requested image counts as one
 * choice. `isChecked` is true if a checked request is read again after a change.
 */
function readImagesRequest(body: Buffer, kind: Kind, isChecked: boolean): ChatRequest | RelayError {
  const known = isChecked ? NO_NAMES : namesByFoldedName(kind.fields.keys())
  const request = membersAndModel(body, scanObject(body, known, kind.rules))
  if (isRelayError(request)) return request
  const { members, model, find } = request
  const images = integerOf(body, find('n'), 1, IMAGES_MAX)
  if (images === undefined) return outOfRange('n', 1, IMAGES_MAX)
  const partialImages = integerOf(body, find('partial_images'), 0, PARTIAL_IMAGES_MAX)
  if (partialImages === undefined) return outOfRange('partial_images', 0, PARTIAL_IMAGES_MAX)
  const error = errorInFields(body, members, kind)
  if (error !== null) return error
  if (!isChecked && !RESPONSE_FORMATS.has(shortTextOf(body, find('response_format')))) {
    return notOneOf('response_format', ['url', 'b64_json'])
  }
  const isStream = flagOf(find('stream')) === true
  // The events of a stream show neither to which image they belong nor which event is the last.
  if (isStream && (images ?? 1) > 1) return notOneOf('n', ['1'])
  const [size, quality] = sizeAndQualityOf(body, members)
  return {
    format: kind.wireFormat(),
    body,
    members,
    model,
    isStream,
    wantsUsage: true,
    choices: images ?? 1,
    outputTokensMax: imageTokensOf(model, size, quality, isStream ? (partialImages ?? 0) : 0),
    imageFactor: imageFactorOf(size, quality),
    reasoningEffort: null,
    inputBound: boundOf(body, members, kind),
    tools: [],
  }
}

function sizeAndQualityOf(body: Buffer, members: readonly Member[]) {
  const find = (key: string) => members.find((member) => member.key === key)
  return [shortTextOf(body, find('size')), shortTextOf(body, find('quality'))] as const
}

/** The bytes in an answer that are not images, such as revised prompts and the usage. */
const TEXT_BYTES_MAX = 1024 * 1024

/**
 * Returns the number of images that an answer of at most so many bytes can contain as base64, but
 * at least one: a single image is hardly ever incompressible. A request for anything else may have
 * any number of answers.
 */
export function imagesWithin(request: ChatRequest, bytesMax: number): number {
  const { body, members, model } = request
  const [size] = sizeAndQualityOf(body, members)
  const textOf = (name: string) =>
    shortTextOf(
      body,
      members.find(({ key }) => key === name),
    )
  const hasUrls = textOf('response_format') === 'url'
  if (request.imageFactor === undefined || hasUrls) return Number.POSITIVE_INFINITY
  const isOpaque =
    model.startsWith('dall-e') ||
    textOf('background') === 'opaque' ||
    textOf('output_format') === 'jpeg'
  return Math.max(1, Math.floor((bytesMax - TEXT_BYTES_MAX) / base64BytesOf(size, isOpaque)))
}

/** Returns the request with the output limit that follows from its model, size and quality. */
function forModel(request: ChatRequest): ChatRequest {
  const { body, members, model, isStream } = request
  const partial = members.find(({ key }) => key === 'partial_images')
  const partialImages = isStream ? (integerOf(body, partial, 0, PARTIAL_IMAGES_MAX) ?? 0) : 0
  const [size, quality] = sizeAndQualityOf(body, members)
  return { ...request, outputTokensMax: imageTokensOf(model, size, quality, partialImages) }
}

function errorInFields(
  body: Buffer,
  members: readonly Member[],
  { fields, format, files, hasNoPrompt }: Kind,
): RelayError | null {
  const find = (key: string) => members.find((member) => member.key === key)
  const promptError = hasNoPrompt ? null : errorInText(body, find('prompt'), 'prompt')
  if (promptError !== null) return promptError
  const misfit = members.find(
    ({ key, kind }) => kind !== 'null' && fields.get(key)?.includes(kind) === false,
  )
  if (misfit !== undefined) return notOfKinds(misfit.key, fields.get(misfit.key) ?? [])
  if (files !== undefined) return errorInFormFiles(body, members, files)
  if (format === 'images') return null
  return errorInMessages(find('images'), null, 'images') ?? errorInMask(body, find('mask'))
}

/**
 * Checks the uploaded files of a form. A form must have exactly one image or one list of images,
 * and no file may be empty.
 */
function errorInFormFiles(
  body: Buffer,
  members: readonly Member[],
  names: readonly string[],
): RelayError | null {
  const fileMembers = members.filter(({ key }) => names.includes(key))
  const images = fileMembers.filter(({ key }) => key !== 'mask')
  if (images.length === 0) return missingParameter('image')
  if (images.length > 1) return invalidParameter('image')
  for (const { key, kind, length, valueStart, valueEnd } of fileMembers) {
    if (kind === 'array' && (length === 0 || length > FILES_MAX)) return invalidParameter(key)
    const text = body.toString('utf8', valueStart, valueEnd)
    const files: unknown[] = kind === 'array' ? JSON.parse(text) : [JSON.parse(text)]
    const isWhole = files.every((file) => Number((file as { bytes?: unknown }).bytes) > 0)
    if (!isWhole) return invalidParameter(key)
  }
  return null
}

function errorInMask(body: Buffer, mask: Member | undefined): RelayError | null {
  if (mask?.kind !== 'object') return null
  const bytes = body.subarray(mask.valueStart, mask.valueEnd)
  const members = scanObject(bytes, MASK)
  if (!isMembers(members)) return invalidParameter('mask')
  const wrong = members.find(({ key, kind }) =>
    key === 'image_url' ? kind !== 'string' : key === 'file_id' && kind !== 'null',
  )
  if (wrong === undefined) return null
  return notOfKinds(`mask.${wrong.key}`, wrong.key === 'image_url' ? TEXT : ['null'])
}

/**
 * Returns the bounds of the input tokens. An image of the caller counts as a fixed number of
 * tokens, regardless of its length in bytes.
 */
function boundOf(body: Buffer, members: readonly Member[], { pictures }: Kind): InputBound {
  let [tokens, count] = [body.length, 0]
  for (const { key, kind, length, valueStart, valueEnd } of members) {
    if (!pictures.includes(key) || kind === 'null') continue
    tokens -= valueEnd - valueStart
    count += kind === 'array' ? length : 1
  }
  tokens += count * PICTURE_TOKENS
  return { tokens, ceiling: Math.min(TOKENS_MAX, tokens * 2 + 100_000), isText: count === 0 }
}

/** The members that set the price, among them those of vendors (see `CallEndpoint.accepts`). */
const OUTLINED: ReadonlySet<string> = new Set([
  ...['n', 'size', 'quality', 'partial_images', 'resolution', 'image_size', 'aspect_ratio'],
])

/**
 * Returns an outline (a short form) of the request. It has the same number of images, size and
 * quality, but a short prompt.
 */
function outlineOf(request: ChatRequest, kind: Kind): ChatRequest {
  const { body, members, model, isStream } = request
  const limits = members.flatMap(({ key, kind, valueStart, valueEnd }) => {
    if (!OUTLINED.has(key)) return []
    if (valueEnd - valueStart <= NAME_LENGTH_MAX * 6) {
      return [`"${key}":${body.toString('utf8', valueStart, valueEnd)}`]
    }
    // A size or quality that is too long is priced like an unknown size or quality.
    return kind === 'string' ? [`"${key}":"?"`] : []
  })
  const ofAll = kind.hasNoPrompt ? [] : [`"stream":${isStream}`, '"prompt":"x"']
  const head = [`"model":${JSON.stringify(model)}`, ...ofAll].join()
  const ofForm = kind.files === undefined ? [] : ['"image":{"bytes":1}']
  const images = kind === EDIT ? ['"images":[{"image_url":"x"}]'] : ofForm
  const text = `{${[head, ...images, ...limits].join()}}`
  return validOutline(readImagesRequest(Buffer.from(text), kind, true))
}

/**
 * Returns the members that request the cheapest image of a model whose default image is expensive.
 * Returns no members for any other model.
 */
function cheapestOf(model: string): object {
  if (model.includes('gpt-image')) return { quality: 'low', size: '1024x1024' }
  return model.includes('dall-e-2') ? { size: '256x256' } : {}
}

const formatOf = (kind: Kind): WireFormat => ({
  name: kind.format,
  promptMember: 'prompt',
  ...(kind.form === undefined ? {} : { form: kind.form }),
  ...(kind === EDIT ? { ofForms: () => OPENAI_IMAGE_EDIT_FORMS } : {}),
  readRequest: (body) => readImagesRequest(body, kind, false),
  readChangedRequest: (body) => readImagesRequest(body, kind, true),
  forModel,
  shortBody: ({ model }) => ({
    ...{ model, prompt: 'a dot', ...cheapestOf(model) },
    ...(kind === EDIT ? { images: [{ image_url: DOT }] } : {}),
  }),
  outlineOf: (request) => outlineOf(request, kind),
  upstreamBody: (request, change) =>
    upstreamBody(
      request,
      { ...change, forcesUsage: false, outputTokens: null },
      {
        limits: [],
        addedLimit: () => 'n',
        // A member that is not in `fields` could select another price or, like `batch_size`,
        // multiply the number of images.
        isRestricted: (folded) => !kind.fields.has(folded),
      },
    ),
  passedHeaders: () => [],
  usageInAnswer,
  readUsage: readImageUsage,
  errorOfAnswer: errorOfImages,
  errorWithoutResult: errorWithoutImage,
  streamOfAnswer: (body) => streamOfImage(body, kind.lastEvent),
  readTexts: countDeliveredImages,
  stream: IMAGE_STREAM,
  errors: OPENAI_ERRORS,
})

/** A transparent image of one pixel. */
const DOT = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'

/** OpenAI's `POST /v1/images/generations`. */
export const OPENAI_IMAGES: WireFormat = formatOf(GENERATION)
/** OpenAI's `POST /v1/images/edits`, with a JSON body. */
export const OPENAI_IMAGE_EDITS: WireFormat = formatOf(EDIT)
/** OpenAI's `POST /v1/images/edits`, with a form. */
const OPENAI_IMAGE_EDIT_FORMS: WireFormat = formatOf(EDIT_FORM)
/** OpenAI's `POST /v1/images/variations`. */
export const OPENAI_IMAGE_VARIATIONS: WireFormat = formatOf(VARIATION)
