import type { Words } from '#infra/http/language.ts'
import { DENIAL_ANSWERS } from '#relay/canonical/denial-answers.ts'
import { providerErrorBody } from '#relay/dialects/openai-chat/error-body.ts'
import { DENIAL_OF } from '#relay/pipeline/failure.ts'
import { confidentialTo, type RelayChannel, workOf } from '#relay/views/channel-view.ts'
import { NO_WAY } from './ask-provider.ts'
import type { ProbeResult } from './probe.ts'
import { refused } from './refusals.ts'

const NO_REQUEST: Words = {
  zh: '模型名称或参数覆盖无法构成请求',
  en: 'The model’s name or the channel’s overrides make no request',
}

const NO_CHATS: Words = {
  zh: '该渠道类型只接受绘图或音乐任务，无法用对话测试',
  en: 'Channels of this type take drawing or music tasks only, and no chat to test them by',
}

/** Why a test failed, as an admin may read it: without keys and addresses. Empty for a success. */
export function testWords({ isSuccess, reason, end }: ProbeResult, channel: RelayChannel): Words {
  if (isSuccess) return { zh: '', en: '' }
  if (end === null) {
    if (workOf(channel) !== 'chat') return NO_CHATS
    return reason === 'no-request' ? NO_REQUEST : refused('ChannelNotCallable').words
  }
  if (end.isProxy === true) return NO_WAY
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
