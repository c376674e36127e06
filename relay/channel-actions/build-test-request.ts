import { isRelayError } from '../canonical/relay-error.ts'
import { testFormatFor } from '../dialects/choose-provider-format.ts'
import { OPENAI_CHAT } from '../dialects/openai-chat/chat-request.ts'
import type { ChatRequest, FormatName } from '../dialects/wire-format.ts'
import { endpointOf } from '../providers/openai-compatible/provider-target.ts'
import { acceptsCalls, type RelayChannel } from '../views/channel-view.ts'
import { upstreamModelOf } from '../views/parsed-channel-settings.ts'

const OUTPUT_TOKENS = 16

/** The formats whose requests consist of a file of the caller. */
const WITH_FILE: ReadonlySet<FormatName> = new Set(['transcriptions'])

/**
 * Why a model can't be tested: its name or the channel makes no request, its requests are tasks
 * that cost as much as the work itself, or they need a file.
 */
export type UntestableReason = 'no-request' | 'costs-task' | 'needs-file'

type TestedChannel = Pick<RelayChannel, 'terms' | 'rules' | 'target'>

/**
 * Returns the model with which a channel is tested by default; empty for a channel without models.
 */
export const testModelOf = ({ terms }: Pick<RelayChannel, 'terms'>): string =>
  terms.testModel === '' ? (terms.models[0] ?? '') : terms.testModel

/**
 * Builds a minimal request: a chat, or a request of the only endpoint in which the model is called,
 * such as an embedding, a speech or an image.
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
  if (WITH_FILE.has(format.name)) return 'needs-file'
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
 * scheduled runs would be expensive.
 */
export function isTestedInRuns(channel: RelayChannel): boolean {
  if (channel.target === null || !acceptsCalls(channel)) return false
  const request = testRequest(channel, testModelOf(channel), false)
  if (typeof request !== 'string') return request.format.name !== 'images'
  return request === 'no-request'
}
