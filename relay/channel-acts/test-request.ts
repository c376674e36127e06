import { isDenial } from '#relay/canonical/denial.ts'
import { type ChatRequest, readChatRequest } from '#relay/dialects/openai-chat/chat-request.ts'
import { type RelayChannel, workOf } from '#relay/views/channel-view.ts'

const OUTPUT_TOKENS = 16
/** These think before they speak, and refuse the older name of the limit. */
const THINKERS = /(^|\/)(o[1-9]|gpt-5)/

/** The model a channel is tested with when nobody names one; empty when it has none. */
export const testModelOf = ({ terms }: Pick<RelayChannel, 'terms'>): string =>
  terms.testModel === '' ? (terms.models[0] ?? '') : terms.testModel

/** The smallest chat there is; null when the model's name can't be one, or chats aren't taken. */
export function testRequest(
  { terms }: Pick<RelayChannel, 'terms'>,
  model: string,
  isStream: boolean,
): ChatRequest | null {
  if (workOf({ terms }) !== 'chat') return null
  const limit = THINKERS.test(model) ? 'max_completion_tokens' : 'max_tokens'
  const body = {
    model: terms.modelPrefix + model,
    messages: [{ role: 'user', content: 'hi' }],
    [limit]: OUTPUT_TOKENS,
    ...(isStream ? { stream: true } : {}),
  }
  const request = readChatRequest(Buffer.from(JSON.stringify(body)))
  return isDenial(request) ? null : request
}
