import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { isNamedLikeChatModel } from './providers/profiles/formats-by-model-name.ts'
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

const BATCH_TYPES: ReadonlySet<number> = new Set(
  PROFILES.flatMap(({ id, batches }) => (batches === undefined ? [] : [id])),
)

/**
 * Reports whether a channel of this type takes batches with a model of this name. Batches are for
 * chats and embeddings, and not for images, videos and speech.
 */
export const takesBatches = (type: number, model: string): boolean =>
  BATCH_TYPES.has(type) && (isNamedLikeChatModel(model) || /embedding/i.test(model))

/** The channel types that accept chats. All other types accept only tasks. */
export const CHAT_TYPES: readonly number[] = PROFILES.map(({ id }) => id)
