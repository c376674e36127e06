import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { PROFILES, TASK_PROFILES } from './providers/profiles/profiles-by-channel-type.ts'
import type { ProfileField } from './providers/profiles/provider-profile.ts'
import { acceptsKey } from './providers/profiles/provider-target.ts'

export { isNamedLikeChatModel } from './providers/profiles/formats-by-model-name.ts'
export { hostOfChannel } from './providers/profiles/provider-target.ts'
export { videoPricingAt } from './tasks/videos/video-pricing.ts'

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

/** The channel types that accept chats. All other types accept only tasks. */
export const CHAT_TYPES: readonly number[] = PROFILES.map(({ id }) => id)
