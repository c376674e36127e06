import { testFormatsOf } from '#relay/providers/profiles/formats-by-model-name.ts'
import { endpointOf, type ProviderTarget } from '#relay/providers/profiles/provider-target.ts'
import { ANTHROPIC_MESSAGES } from './anthropic-messages/messages-format.ts'
import { EMBEDDINGS } from './embeddings-rerank-moderations/embeddings-format.ts'
import {
  GEMINI_EMBEDDING,
  GEMINI_EMBEDDING_BATCH,
} from './embeddings-rerank-moderations/gemini-embedding-formats.ts'
import { MODERATIONS } from './embeddings-rerank-moderations/moderations-format.ts'
import { RERANK } from './embeddings-rerank-moderations/rerank-format.ts'
import { GEMINI } from './gemini/generate-content-format.ts'
import { OPENAI_SPEECH } from './openai-audio/speech-format.ts'
import { OPENAI_TRANSCRIPTIONS } from './openai-audio/transcription-formats.ts'
import { OPENAI_CHAT } from './openai-chat/chat-format.ts'
import { OPENAI_COMPLETIONS } from './openai-completions/completions-format.ts'
import { OPENAI_IMAGES } from './openai-images/image-formats.ts'
import { OPENAI_RESPONSES } from './openai-responses/responses-format.ts'
import {
  type ConvertedFormatName,
  DIRECT_FORMATS,
  type DirectFormatName,
  isDirectFormat,
  type WireFormat,
} from './wire-format.ts'

/** The direct formats (which are never converted) in which channels are tested, by name. */
const DIRECT: ReadonlyMap<string, WireFormat> = new Map<DirectFormatName, WireFormat>([
  ['embeddings', EMBEDDINGS],
  ['moderations', MODERATIONS],
  ['rerank', RERANK],
  ['images', OPENAI_IMAGES],
  ['speech', OPENAI_SPEECH],
  ['transcriptions', OPENAI_TRANSCRIPTIONS],
  ['gemini-embedding', GEMINI_EMBEDDING],
  ['gemini-embedding-batch', GEMINI_EMBEDDING_BATCH],
])

/**
 * Returns the format in which a channel is tested with a model. If the model's name shows that the
 * model is for embeddings, images or audio, and the channel serves it in a direct format for them,
 * this direct format is used. A direct format is also used if the channel serves the model in no
 * other format. In all other cases, the channel is tested as if a call in the format `callers` were
 * sent to it.
 */
export function testFormatFor(
  channel: { readonly target: Pick<ProviderTarget, 'endpoints'> | null },
  callers: WireFormat,
  model: string,
): WireFormat {
  const { target } = channel
  const serves = (name: DirectFormatName) =>
    target !== null && endpointOf(target, name, model) !== undefined
  const hasCalls = target === null || endpointOf(target, callers.name, model) !== undefined
  const named = testFormatsOf(model).find(serves)
  const name = named ?? (hasCalls ? undefined : DIRECT_FORMATS.find(serves))
  return (name === undefined ? undefined : DIRECT.get(name)) ?? formatFor(channel, callers, model)
}

const CONVERTED: ReadonlyMap<string, WireFormat> = new Map<ConvertedFormatName, WireFormat>([
  ['chat', OPENAI_CHAT],
  ['completions', OPENAI_COMPLETIONS],
  ['messages', ANTHROPIC_MESSAGES],
  ['gemini', GEMINI],
  ['responses', OPENAI_RESPONSES],
])

/**
 * Returns the format in which the channel's provider is called for a request in the format
 * `callers`. If `callers` is never converted, or if the provider offers it for the model, `callers`
 * is returned. For any other request, the provider's preferred format is returned. `model` is the
 * provider's name for the model.
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
