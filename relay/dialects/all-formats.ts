import {
  endpointOf,
  type ProviderTarget,
} from '#relay/providers/openai-compatible/provider-target.ts'
import { ANTHROPIC_MESSAGES } from './anthropic-messages/messages-request.ts'
import { GEMINI } from './gemini/generate-request.ts'
import { OPENAI_CHAT } from './openai-chat/chat-request.ts'
import { OPENAI_COMPLETIONS } from './openai-completions/completion-request.ts'
import { OPENAI_RESPONSES } from './openai-responses/responses-request.ts'
import { type ConvertedFormatName, isDirectFormat, type WireFormat } from './wire-format.ts'

const CONVERTED: ReadonlyMap<string, WireFormat> = new Map<ConvertedFormatName, WireFormat>([
  ['chat', OPENAI_CHAT],
  ['completions', OPENAI_COMPLETIONS],
  ['messages', ANTHROPIC_MESSAGES],
  ['gemini', GEMINI],
  ['responses', OPENAI_RESPONSES],
])

/**
 * Returns the format in which the channel's provider is called: the caller's format if the provider
 * offers it for the model, and else the provider's preferred format. `model` is the provider's name
 * for the model. A format that is never converted is returned as it is.
 */
export function formatFor(
  { target }: { readonly target: Pick<ProviderTarget, 'endpoints'> | null },
  callers: WireFormat,
  model: string,
): WireFormat {
  if (isDirectFormat(callers.name)) return callers
  const endpoint = target === null ? undefined : endpointOf(target, callers.name, model)
  return CONVERTED.get(endpoint?.format ?? 'chat') ?? OPENAI_CHAT
}
