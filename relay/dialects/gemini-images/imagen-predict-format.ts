import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { isObject } from '#relay/canonical/json-values.ts'
import { readOpenAiUsage } from '#relay/canonical/read-openai-usage-for-billing.ts'
import {
  invalidParameter,
  missingParameter,
  notOneOf,
  type RelayError,
  relayError,
} from '#relay/canonical/relay-error.ts'
import { answerCheck } from '../check-successful-answer.ts'
import { GEMINI_ERRORS } from '../gemini/error-format.ts'
import { jsonError } from '../invalid-json-error.ts'
import { inputBoundOf } from '../openai-chat/input-token-bound.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { countPredictedImages, IMAGE_STREAM } from '../openai-images/read-image-answers.ts'
import {
  isMembers,
  isModelName,
  notOfKinds,
  outOfRange,
  RESERVED,
  validOutline,
} from '../read-common-request-members.ts'
import { scanObject } from '../scan-request-object.ts'
import type { ChatRequest, PathParameters, WireFormat } from '../wire-format.ts'

const NAMES = namesByFoldedName(['instances', 'parameters'])
const NO_NAMES = namesByFoldedName([])
/** The maximum number of images that Imagen generates if the request does not state a number. */
const IMAGES_DEFAULT = 4
const IMAGES_MAX = 8
/**
 * The maximum length in bytes of `instances` and of `parameters`. Both are parsed and usually
 * short.
 */
const BYTES_MAX = 256 * 1024
/**
 * The parameters that a request may have. Any other parameter is refused, because it could make the
 * provider write to the storage of the operator's account, or change what is billed.
 */
const PARAMETERS: ReadonlySet<string> = new Set([
  ...['sampleCount', 'aspectRatio', 'personGeneration', 'imageSize', 'sampleImageSize'],
  ...['negativePrompt', 'seed', 'enhancePrompt', 'language', 'safetySetting', 'addWatermark'],
  ...['outputOptions', 'includeRaiReason', 'includeSafetyAttributes', 'guidanceScale'],
])
const SIZES: ReadonlySet<unknown> = new Set([undefined, null, '1K', '2K'])

const unsupported = (param: string): RelayError =>
  relayError('parameter_not_supported', { param: param.slice(0, 64) })

/**
 * Reads the body of Imagen's `predict`. The path names the model. Each requested image counts as
 * one choice.
 */
function readPredictRequest(
  body: Buffer,
  path: PathParameters | null,
  known = NAMES,
): ChatRequest | RelayError {
  if (path === null || !isModelName(path.model)) return invalidParameter('model')
  const members = scanObject(body, known)
  if (!isMembers(members)) return jsonError(body, members)
  if (members.some(({ key }) => key === RESERVED)) return invalidParameter(RESERVED)
  const valueAt = (name: string): unknown => {
    const member = members.find(({ key }) => key === name)
    if (member === undefined) return undefined
    const { valueStart, valueEnd } = member
    if (valueEnd - valueStart > BYTES_MAX) return 'too long'
    return JSON.parse(body.toString('utf8', valueStart, valueEnd))
  }
  const error = errorInInstances(valueAt('instances'))
  if (error !== null) return error
  const parameters = valueAt('parameters') ?? {}
  if (!isObject(parameters)) return notOfKinds('parameters', ['object'])
  const unknown = Object.keys(parameters).find((name) => !PARAMETERS.has(name))
  if (unknown !== undefined) return unsupported(`parameters.${unknown}`)
  const count = parameters.sampleCount ?? IMAGES_DEFAULT
  const isCount = Number.isInteger(count) && (count as number) >= 1
  if (!isCount || (count as number) > IMAGES_MAX) {
    return outOfRange('parameters.sampleCount', 1, IMAGES_MAX)
  }
  const { imageSize, sampleImageSize } = parameters
  const counts = { picture: 0, video: 0, audio: 0, file: 0, storedReasoning: 0 }
  return {
    format: GEMINI_IMAGES,
    body,
    members,
    model: path.model,
    isStream: false,
    wantsUsage: true,
    choices: count as number,
    outputTokensMax: IMAGE_TOKENS,
    imageFactor: SIZES.has(imageSize) && SIZES.has(sampleImageSize) ? '1' : '2',
    reasoningEffort: null,
    inputBound: inputBoundOf(body, members, { counts, hasUnknown: false, tools: [] }),
    tools: [],
  }
}

/** The number of tokens of one image. Used only if an operator prices Imagen by tokens. */
const IMAGE_TOKENS = 1_290

const ONE_PROMPT = notOneOf('instances', ['[{"prompt": "…"}]'])

function errorInInstances(instances: unknown): RelayError | null {
  if (instances === undefined || instances === null) {
    return missingParameter('instances')
  }
  if (!Array.isArray(instances) || instances.length !== 1) return ONE_PROMPT
  const [instance] = instances as unknown[]
  if (!isObject(instance)) return ONE_PROMPT
  const { prompt, ...others } = instance
  const [other] = Object.keys(others)
  if (other !== undefined) return unsupported(`instances[0].${other}`)
  return typeof prompt === 'string' && prompt !== ''
    ? null
    : relayError('text_empty', { param: 'instances[0].prompt' })
}

/** A size with the highest price factor. */
const LARGEST_SIZE = '4K'

/**
 * Returns an outline (a short form) of the request, with the same number of images and the same
 * price factor.
 */
function outlineOf({ choices, model, isStream, imageFactor }: ChatRequest): ChatRequest {
  const size = imageFactor === '1' ? {} : { imageSize: LARGEST_SIZE }
  const text = { instances: [{ prompt: 'x' }], parameters: { sampleCount: choices, ...size } }
  const path = { model, isStream }
  return validOutline(readPredictRequest(Buffer.from(JSON.stringify(text)), path, NO_NAMES))
}

const RULES = {
  limits: [],
  addedLimit: () => 'parameters',
  isRestricted: (folded: string) => !NAMES.has(folded),
}

const errorOfMembers = answerCheck('predictions')
const isEmptyObject = (body: Buffer): boolean =>
  /^\s*\{\s*\}\s*$/.test(body.toString('latin1', 0, 64))

/** Imagen's `predict` in Gemini's API. */
export const GEMINI_IMAGES: WireFormat = {
  name: 'gemini-images',
  promptMember: 'instances',
  readRequest: (body, path) => readPredictRequest(body, path),
  readChangedRequest: (body, path) => readPredictRequest(body, path, NO_NAMES),
  shortBody: () => ({ instances: [{ prompt: 'a dot' }], parameters: { sampleCount: 1 } }),
  outlineOf,
  upstreamBody: (request, change) => {
    // The path names the model, so the body does not.
    const overrides = new Map([...change.overrides].filter(([name]) => name !== 'model'))
    const unchanged = { model: request.model, forcesUsage: false, outputTokens: null, overrides }
    return upstreamBody(request, { ...change, ...unchanged }, RULES)
  },
  passedHeaders: ({ 'x-goog-api-client': client }) =>
    client === undefined ? [] : ['x-goog-api-client', String(client)],
  usageInAnswer: () => undefined,
  readUsage: (raw, bounds) => readOpenAiUsage(raw, bounds),
  // Without `includeRaiReason`, the answer to a blocked prompt is an empty object.
  errorOfAnswer: (body) => (isEmptyObject(body) ? null : errorOfMembers(body)),
  streamOfAnswer: (body) => `data: ${body.toString('utf8').replaceAll(/[\r\n]+/g, ' ')}\n\n`,
  readTexts: countPredictedImages,
  stream: IMAGE_STREAM,
  errors: GEMINI_ERRORS,
}
