import { createHash, type Hash } from 'node:crypto'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { CanonicalRequest } from '#relay/canonical/canonical-request.ts'
import {
  type JsonObject,
  listOf,
  objectOrEmpty,
  parsedObject,
  textOf,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { isVisibleText } from '../header-list.ts'
import { MODEL_PLACEHOLDER, type OpenCloud } from '../provider-access-and-decoder-types.ts'
import { endEvents, reportedUsage, textEvents, usageEvents } from './build-answer-events.ts'
import type {
  ProviderError,
  ProviderEventReader,
  Translation,
  TranslationTarget,
} from './chat-translation.ts'
import { predictionTransport } from './replicate-transport.ts'
import {
  type Feature,
  lossesOf,
  textConversation,
  transcriptOf,
} from './text-conversation-and-losses.ts'

const FEATURES = new Set<Feature>(['outputTokensMax', 'temperature', 'topP'])

/** Writes the input members that Replicate's language models have in common. */
function writeRequest(request: CanonicalRequest, { model }: TranslationTarget) {
  const losses = lossesOf(request, FEATURES)
  const conversation = textConversation(request, losses)
  const { system } = conversation
  const { temperature, topP } = request.sampling
  const members = {
    prompt: transcriptOf({ ...conversation, system: '' }),
    system_prompt: system === '' ? null : system,
    max_tokens: request.outputTokensMax,
    temperature,
    top_p: topP,
  }
  const input = Object.entries(members).filter(([, member]) => member !== null)
  const [, version] = model.split(':')
  const ofVersion = version === undefined ? {} : { version }
  return { value: { ...ofVersion, input: Object.fromEntries(input), stream: true }, losses }
}

/** Reads an error, which has the members `title`, `detail` and `status`. */
function readError(body: JsonObject, status: number): ProviderError | null {
  if (status < 400) return null
  const message = textOf(body.detail) ?? textOrEmpty(body.title)
  if (status === 401) return { status, type: 'invalid_api_key', message }
  if (status === 402) return { status, type: 'insufficient_quota', message }
  return { status, type: 'replicate_error', message }
}

function createEventReader(): ProviderEventReader {
  const stream = { length: 0, hash: createHash(HASH), isWhole: false }
  return ({ name, data }) => {
    if (name === 'output') {
      stream.length += data.length
      stream.hash.update(data)
      return textEvents(data)
    }
    if (name === 'error') {
      const message = textOf(parsedObject(data)?.detail) ?? data
      return [{ kind: 'error', type: 'replicate_error', message }]
    }
    if (name === 'done') stream.isWhole = true
    return name === 'prediction' ? predictionEvents(parsedObject(data) ?? {}, stream) : []
  }
}

const HASH = 'sha256'

/**
 * The length and the hash of the text that a stream has delivered. The text itself may be too long
 * to be kept. `isWhole` is true if the provider has ended the stream.
 */
type StreamedText = { readonly length: number; readonly hash: Hash; readonly isWhole: boolean }

/** Reports whether `text` begins with the text that a stream has delivered. */
const continues = (text: string, { length, hash }: StreamedText): boolean => {
  const beginning = createHash(HASH).update(text.slice(0, length))
  return beginning.digest('hex') === hash.copy().digest('hex')
}

/**
 * Returns the events at the end of an answer. If the stream was cut, the rest of the text is taken
 * from the output. If the output differs from the text before the cut, the answer ends with an
 * error, because the answer must not look complete.
 */
function predictionEvents(
  prediction: JsonObject,
  streamed: StreamedText,
): readonly CanonicalEvent[] {
  const { status, output, error, metrics } = prediction
  if (status !== 'succeeded') {
    const message = textOf(error) ?? `The prediction has the status ${textOrEmpty(status)}.`
    return [{ kind: 'error', type: 'replicate_error', message }]
  }
  const text = textOf(output) ?? listOf(output).map(textOrEmpty).join('')
  const isContinued = continues(text, streamed)
  const counts = objectOrEmpty(metrics)
  const usage = usageEvents(reportedUsage(counts.input_token_count, counts.output_token_count))
  if (!isContinued && !streamed.isWhole) {
    const message = 'The stream of the prediction was cut, and its output has another text.'
    return [...usage, { kind: 'error', type: 'replicate_error', message }]
  }
  const rest = isContinued ? textEvents(text.slice(streamed.length)) : []
  return [...rest, ...usage, ...endEvents()]
}

/** Predictions of Replicate's language models. */
export const REPLICATE: Translation = {
  writeRequest,
  // All answers arrive as streams.
  readAnswer: () => null,
  readError,
  createEventReader,
}

/**
 * Returns the path for a model. The model's name is `owner/name`, and may end with a colon and a
 * version. The path for a version does not contain the model.
 */
function pathOf(path: string, model: string): string {
  if (model.includes(':')) return path.replace(`/models/${MODEL_PLACEHOLDER}`, '')
  return path.replace(MODEL_PLACEHOLDER, () => model.split('/').map(encodeURIComponent).join('/'))
}

/**
 * Returns the access to Replicate with the key, which is an API token. Returns null if the key is
 * malformed.
 */
export const openReplicate: OpenCloud = ({ key }) =>
  isVisibleText(key)
    ? {
        baseUrlFor: () => 'https://api.replicate.com',
        fillPath: pathOf,
        authorize: async (call) => ({
          ...call,
          headers: [...call.headers, 'authorization', `Bearer ${key}`],
        }),
        dropCredentials: () => {},
        confidential: () => [key],
        decoder: null,
        transport: predictionTransport,
      }
    : null
