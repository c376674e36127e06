import type { ChannelRecord } from '#domain/channels/state.ts'
import { profileOf } from '#relay/providers/openai-compatible/all-profiles.ts'
import { ANTHROPIC_MESSAGES } from './anthropic-messages/messages-request.ts'
import { OPENAI_CHAT } from './openai-chat/chat-request.ts'
import type { FormatName, WireFormat } from './wire-format.ts'

const FORMATS: Readonly<Record<FormatName, WireFormat>> = {
  chat: OPENAI_CHAT,
  messages: ANTHROPIC_MESSAGES,
}

/** Returns the format in which the channel's provider is called. */
export const formatOf = ({ terms }: Pick<ChannelRecord, 'terms'>): WireFormat =>
  FORMATS[profileOf(terms.type)?.format ?? 'chat']
