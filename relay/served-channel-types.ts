import type { BatchApi } from '#domain/batches/events.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { BATCH_ENDPOINTS } from './batches/openai-batches.ts'
import { isNamedLikeChatModel, testFormatsOf } from './providers/profiles/formats-by-model-name.ts'
import { PROFILES, TASK_PROFILES } from './providers/profiles/profiles-by-channel-type.ts'
import type { ProfileField } from './providers/profiles/provider-profile.ts'
import { acceptsKey } from './providers/profiles/provider-target.ts'

export { hostOfChannel } from './providers/profiles/provider-target.ts'
export { videoPricingAt } from './tasks/videos/video-pricing.ts'
export { isNamedLikeChatModel }

type ServedType = {
  readonly required: readonly ProfileField[]
  readonly needsAddress: boolean
  readonly addressWords: readonly string[]
  readonly keyHint: TranslatedText
  /** Reports whether a key of a channel with this base URL has the right form. */
  readonly acceptsKey: (key: string, baseUrl: string) => boolean
}

/** The channel types that the relay supports, each with its required fields. */
export const SERVED_TYPES: ReadonlyMap<number, ServedType> = new Map(
  [...PROFILES, ...TASK_PROFILES].map((profile) => {
    const { id, baseUrl, bases = [], fields = [], keyHint } = profile
    return [
      id,
      {
        required: fields.filter(({ isRequired }) => isRequired),
        needsAddress: baseUrl === null,
        addressWords: bases.map(({ keyword }) => keyword),
        keyHint,
        acceptsKey: (key, entered) => acceptsKey(profile, key, entered),
      },
    ]
  }),
)

const BATCH_APIS: ReadonlyMap<number, BatchApi> = new Map(
  PROFILES.flatMap(({ id, batches }) => (batches === undefined ? [] : [[id, batches]])),
)

/**
 * The formats of requests in batches of OpenAI's API. The batches of Anthropic and Gemini contain
 * only chats.
 */
const OPENAI_BATCH_FORMATS: ReadonlySet<string> = new Set(
  [...BATCH_ENDPOINTS.values()].map(({ name }) => name),
)

/**
 * Reports whether a channel of this type takes batches with a model of this name. The name tells
 * the format in which the model is called (see `testFormatsOf`).
 */
export function takesBatches(type: number, model: string): boolean {
  const api = BATCH_APIS.get(type)
  if (api === undefined) return false
  if (isNamedLikeChatModel(model)) return true
  return api === 'openai' && testFormatsOf(model).some((name) => OPENAI_BATCH_FORMATS.has(name))
}

/** The channel types that accept chats. All other types accept only tasks. */
export const CHAT_TYPES: readonly number[] = PROFILES.map(({ id }) => id)
