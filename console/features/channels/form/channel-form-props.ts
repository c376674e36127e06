import type { ChannelType } from '#read-api/contract/channel-types.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import type { ChannelDraft } from './channel-draft.ts'
import type { ChannelFaults } from './channel-faults.ts'
import type { FieldRefusal } from './field-refusal.ts'

/** What the form and its groups of fields share. */
export type ChannelFormProps = {
  draft: ChannelDraft
  /** As it is on the server; null for a new one. */
  stored: ChannelDraft | null
  channel: Channel | null
  /** The draft's type, as the server declares it; undefined where it is not offered. */
  type: ChannelType | undefined
  faults: ChannelFaults
  refusal: FieldRefusal | null
  onChange: (patch: Partial<ChannelDraft>) => void
}
