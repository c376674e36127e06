import { isRelayError } from '../canonical/relay-error.ts'
import { testFormatFor } from '../dialects/choose-provider-format.ts'
import { OPENAI_CHAT } from '../dialects/openai-chat/chat-format.ts'
import type { ChatRequest, FormatName } from '../dialects/wire-format.ts'
import { isNamedLikeRealtimeModel } from '../providers/profiles/formats-by-model-name.ts'
import { endpointOf } from '../providers/profiles/provider-target.ts'
import { acceptsCalls, type RelayChannel } from '../views/channel-view.ts'
import { upstreamModelOf } from '../views/parse-channel-rules.ts'

const OUTPUT_TOKENS = 16

/** The formats whose requests must contain a file from the caller. */
const WITH_FILE: ReadonlySet<FormatName> = new Set(['transcriptions'])
/** Matches models that only edit images of the caller. */
const IMAGE_EDITORS = /^(?:qwen-image-edit|wan2\.6-image|wan2\.5-i2i)/

/**
 * The reasons why a model can't be tested. `no-request`: the model's name and the channel's
 * settings make no valid request. `costs-task`: a request would create a task that costs as much as
 * real work. `needs-file`: a request must contain a file. `needs-socket`: the model answers only in
 * realtime sessions.
 */
export type UntestableReason = 'no-request' | 'costs-task' | 'needs-file' | 'needs-socket'

type TestedChannel = Pick<RelayChannel, 'terms' | 'rules' | 'target'>

/**
 * Returns the model with which a channel is tested by default; empty for a channel without models.
 */
export const testModelOf = ({ terms }: Pick<RelayChannel, 'terms'>): string =>
  terms.testModel === '' ? (terms.models[0] ?? '') : terms.testModel

/**
 * Builds a minimal request to test a model. A model without a chat endpoint gets a request to the
 * endpoint that does serve the model, for example for an embedding, a speech or an image. If the
 * model can't be tested, returns the reason.
 */
export function testRequest(
  channel: TestedChannel,
  model: string,
  isStream: boolean,
): ChatRequest | UntestableReason {
  if (!acceptsCalls(channel)) return 'no-request'
  const { terms, rules, target } = channel
  const name = terms.modelPrefix + model
  const upstreamModel = upstreamModelOf(terms, rules, name)
  const format = testFormatFor(channel, OPENAI_CHAT, upstreamModel)
  if (WITH_FILE.has(format.name) || IMAGE_EDITORS.test(upstreamModel)) return 'needs-file'
  const hasSessions = target !== null && endpointOf(target, 'realtime', upstreamModel) !== undefined
  if (hasSessions && isNamedLikeRealtimeModel(upstreamModel)) return 'needs-socket'
  const videos = target?.profile.videos
  const hasTasks = target !== null && endpointOf(target, format.name, upstreamModel)?.adapter?.task
  if (hasTasks || videos?.models?.test(upstreamModel) === true) return 'costs-task'
  const path = { model: name, isStream }
  const body = format.shortBody(path, OUTPUT_TOKENS)
  const request = format.readRequest(Buffer.from(JSON.stringify(body)), path)
  return isRelayError(request) ? 'no-request' : request
}

/**
 * Reports whether a channel is tested in a run of all channels. A run generates no images, because
 * they would make scheduled runs expensive. A channel for which no valid request can be built is
 * included, so that its test counts as failed.
 */
export function isTestedInRuns(channel: RelayChannel): boolean {
  if (channel.target === null || !acceptsCalls(channel)) return false
  const request = testRequest(channel, testModelOf(channel), false)
  if (typeof request !== 'string') return request.format.name !== 'images'
  return request === 'no-request'
}
