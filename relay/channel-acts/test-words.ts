import type { Words } from '#infra/http/language.ts'
import { DENIAL_ANSWERS } from '#relay/canonical/denial-answers.ts'
import { providerErrorBody } from '#relay/dialects/openai-chat/error-body.ts'
import { DENIAL_OF } from '#relay/pipeline/failure.ts'
import { confidentialTo, type RelayChannel } from '#relay/views/channel-view.ts'
import type { ProbeResult } from './probe.ts'
import { refused } from './refusals.ts'

const NO_REQUEST: Words = {
  zh: '模型名称或参数覆盖无法构成请求',
  en: 'The model’s name or the channel’s overrides make no request',
}

/** Why a test failed, as an admin may read it: without keys and addresses. Empty for a success. */
export function testWords({ isSuccess, reason, end }: ProbeResult, channel: RelayChannel): Words {
  if (isSuccess) return { zh: '', en: '' }
  if (end === null)
    return reason === 'no-request' ? NO_REQUEST : refused('ChannelNotCallable').words
  if (end.error !== 'status' && end.error !== 'error-event') {
    const { zh, en } = DENIAL_ANSWERS[DENIAL_OF[end.error]]
    return { zh, en }
  }
  const status = end.status ?? 502
  const known = confidentialTo(channel)
  const { message } = providerErrorBody(end.body, status, { isHidden: false, known }).error
  const isNamed = end.error === 'error-event' || message.includes(String(status))
  const text = isNamed ? message : `${status} ${message}`
  return { zh: text, en: text }
}
