import {
  endpointOf,
  type ProviderTarget,
} from '#relay/providers/openai-compatible/provider-target.ts'
import { ANTHROPIC_MESSAGES } from './anthropic-messages/messages-request.ts'
import { GEMINI } from './gemini/generate-request.ts'
import { OPENAI_CHAT } from './openai-chat/chat-request.ts'
import { OPENAI_COMPLETIONS } from './openai-completions/completion-request.ts'
import { OPENAI_RESPONSES } from './openai-responses/responses-request.ts'
import type { FormatName, WireFormat } from './wire-format.ts'

const FORMATS: ReadonlyMap<FormatName, WireFormat> = new Map([
  ['chat', OPENAI_CHAT],
  ['completions', OPENAI_COMPLETIONS],
  ['messages', ANTHROPIC_MESSAGES],
  ['gemini', GEMINI],
  ['responses', OPENAI_RESPONSES],
])

/**
 * Returns the format in which the channel's provider is called: the caller's format if the provider
 * offers it for the model, and else the provider's preferred format. `model` is the provider's name
 * for the model.
 */
export function formatFor(
  { target }: { readonly target: Pick<ProviderTarget, 'endpoints'> | null },
  callers: Pick<WireFormat, 'name'>,
  model: string,
): WireFormat {
  const endpoint = target === null ? undefined : endpointOf(target, callers.name, model)
  return FORMATS.get(endpoint?.format ?? 'chat') ?? OPENAI_CHAT
}
