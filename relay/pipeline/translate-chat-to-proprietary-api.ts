import type { Connections } from '#infra/outbound/outbound-connections.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { ConversionError, readCallerRequest } from '../canonical/canonical-request.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { adaptToolNames, type OriginalToolNames } from '../conversion/adapt-tool-names.ts'
import { conversionLimitError } from '../conversion/conversion-limits.ts'
import { checkArguments } from '../conversion/limit-json-in-texts.ts'
import { callerPathsOfLosses } from '../conversion/loss-paths-in-caller-format.ts'
import {
  type AnswerSettings,
  readAnswerSettings,
  readRequest,
} from '../conversion/openai-chat/read-request.ts'
import type { ConvertedFormatName, WireFormat } from '../dialects/wire-format.ts'
import { type ImageTask, imageTaskTransport } from '../providers/profiles/image-tasks.ts'
import { endpointOf, type ProviderTarget } from '../providers/profiles/provider-target.ts'
import type {
  Translation,
  TranslationTarget,
} from '../providers/proprietary-chat-apis/chat-translation.ts'
import { answerDecoder } from '../providers/proprietary-chat-apis/decode-answer-to-chat.ts'
import type { AnswerDecoder, Transport } from '../providers/provider-access-and-decoder-types.ts'
import { relayErrorOf } from './convert-request.ts'

/**
 * The data for translating the answers to a translated chat. The chat itself is not kept in memory.
 */
export type TranslatedChat = Omit<AnswerSettings, 'hasStreamUsage'> & {
  readonly translation: Translation
  readonly model: string
  readonly originalNames: OriginalToolNames
}

/**
 * Translates a chat that has been validated. Returns the error `not_convertible`, with the member
 * at fault, if the provider can't do what the chat asks for. The losses have the names of `caller`,
 * the format from which the chat was converted.
 */
export function translateToProprietaryApi(
  translation: Translation,
  body: Buffer,
  choices: number,
  target: TranslationTarget,
  caller: ConvertedFormatName = 'chat',
):
  | {
      readonly body: Buffer
      readonly losses: readonly string[]
      readonly translated: TranslatedChat
    }
  | RelayError {
  if (choices > 1) return relayError('not_convertible', { param: 'n' })
  const limitError = conversionLimitError(body)
  if (limitError !== null) return limitError
  try {
    const chat = JSON.parse(body.toString('utf8')) as JsonObject
    checkArguments(chat)
    const { value: request, losses } = readCallerRequest(() => readRequest(chat))
    const { request: adapted, originalNames } = adaptToolNames(request, 'chat')
    const written = translation.writeRequest(adapted, target)
    const { hasStreamUsage: _, ...settings } = readAnswerSettings(chat)
    // The places of messages and parts in a converted chat are not those in the caller's request.
    const placed = caller === 'chat' ? request : undefined
    return {
      body: Buffer.from(JSON.stringify(written.value)),
      losses: [...losses, ...callerPathsOfLosses(written.losses, caller, placed)],
      translated: { ...settings, translation, model: target.model, originalNames },
    }
  } catch (error) {
    if (error instanceof ConversionError) return relayErrorOf(error)
    throw error
  }
}

/** The values of a call that select the decoder of its answers. */
type DecodedCall = {
  readonly translated?: TranslatedChat | undefined
  readonly request: { readonly format: Pick<WireFormat, 'name'>; readonly model: string }
  readonly upstreamModel: string | null
}

/**
 * Returns the decoder of the answers to one call. `call` is the id of the call. Returns null if the
 * answers need no decoding.
 */
export function decoderFor(
  { translated, request, upstreamModel }: DecodedCall,
  target: ProviderTarget,
  call: string,
): AnswerDecoder | null {
  if (translated === undefined) {
    const endpoint = endpointOf(target, request.format.name, upstreamModel ?? request.model)
    return endpoint?.decoder ?? target.cloud?.decoder ?? null
  }
  const { translation, ...answer } = translated
  const createdAt = Math.floor(Date.now() / 1_000)
  return answerDecoder(translation, { ...answer, id: `chatcmpl-${call}`, createdAt })
}

/**
 * Returns the transport that sends the calls of a target to an origin. `task` is the task of an
 * image adapter, if it has one.
 */
export function transportOf(
  { cloud }: ProviderTarget,
  connections: Connections,
  origin: string,
  task?: ImageTask,
): Transport {
  if (task !== undefined) return imageTaskTransport(task, connections, origin)
  return cloud?.transport?.(connections, origin) ?? connections.poolFor(origin)
}
