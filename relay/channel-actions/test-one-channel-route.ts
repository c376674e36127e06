import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { channelChecks } from '#read-api/contract/channel-actions.ts'
import { RELAY_ERRORS } from '../canonical/relay-error-catalogue.ts'
import { providerErrorBody } from '../dialects/openai-chat/error-format.ts'
import { ERROR_CODE_OF } from '../pipeline/failed-call-answer.ts'
import { acceptsCalls, confidentialTo, type RelayChannel } from '../views/channel-view.ts'
import type { UntestableReason } from './build-test-request.ts'
import {
  type ChannelAction,
  contextOf,
  currentChannel,
  waitUntilVisible,
} from './channel-action.ts'
import { channelActionError } from './channel-action-errors.ts'
import { type ChannelTestResult, testChannel } from './send-channel-test.ts'
import { PROXY_FAILED } from './send-get-request-to-provider.ts'

const NO_REQUEST: TranslatedText = {
  zh: '模型名称或参数覆盖无法构成请求',
  en: 'The model’s name or the channel’s overrides do not make a valid request',
}

const NO_CHATS: TranslatedText = {
  zh: '该渠道类型只接受绘图、音乐或视频任务，无法用对话测试',
  en: 'Channels of this type accept only drawing, music or video tasks, so they can’t be tested',
}

/**
 * The messages that tell an admin why a model can't be tested, by the reason in the test's result.
 */
const UNTESTABLE: Readonly<Record<UntestableReason, TranslatedText>> = {
  'no-request': NO_REQUEST,
  'costs-task': {
    zh: '调用该模型会创建产生费用的异步任务，无法测试',
    en: 'Requests to this model are tasks that cost money, so it can’t be tested',
  },
  'needs-file': {
    zh: '调用该模型需要上传文件，无法测试',
    en: 'Requests to this model need a file, so it can’t be tested',
  },
  'needs-socket': {
    zh: '该模型只能通过 WebSocket 实时会话调用，无法测试',
    en: 'This model answers only in realtime sessions on a websocket, so it can’t be tested',
  },
}

const isUntestable = (reason: string): reason is UntestableReason =>
  Object.hasOwn(UNTESTABLE, reason)

/**
 * Returns the message for the admin that explains why a test failed, without keys and addresses. A
 * successful test gets a message only if the answer names another model.
 */
function testMessage(
  { isSuccess, reason, otherModel, end }: ChannelTestResult,
  channel: RelayChannel,
): TranslatedText {
  if (isSuccess) return otherModel === null ? { zh: '', en: '' } : otherModelMessage(otherModel)
  if (end === null) {
    if (!acceptsCalls(channel)) return NO_CHATS
    return isUntestable(reason)
      ? UNTESTABLE[reason]
      : channelActionError('ChannelNotCallable').translatedMessage
  }
  if (end.isProxy === true) return PROXY_FAILED
  if (end.error !== 'status' && end.error !== 'error-event') {
    const { zh, en } = RELAY_ERRORS[ERROR_CODE_OF[end.error]]
    return { zh, en }
  }
  const status = end.status ?? 502
  const confidential = confidentialTo(channel)
  const { message } = providerErrorBody(end.body, status, { isHidden: false, confidential }).error
  const isNamed = end.error === 'error-event' || message.includes(String(status))
  const text = isNamed ? message : `${status} ${message}`
  return { zh: text, en: text }
}

const otherModelMessage = (model: string): TranslatedText => ({
  zh: `响应中的模型为 ${model}，与请求的模型不符`,
  en: `The answer names another model than the requested one: ${model}`,
})

/**
 * Serves `GET /api/channel/test/{id}?model` for admins: sends one small request and measures the
 * time.
 */
export const testOneChannel: ChannelAction = (api, deps) => {
  api.route({
    ...endpoint(channelChecks, 'GET /api/channel/test/:id'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { params, query } = request
      const channel = await currentChannel(deps, Number(params.id))
      const context = contextOf(deps, request)
      const result = await testChannel(deps, {
        channel,
        model: query.model === '' ? undefined : query.model,
        isStream: query.stream === 'true',
        ...context,
      })
      deps.applyTestResult(channel, result, context)
      if (result.position !== null) await waitUntilVisible(deps, reply, result.position)
      const { isSuccess, model, durationMs, reason } = result
      const time = durationMs / 1_000
      return {
        success: isSuccess,
        message: testMessage(result, channel)[languageOf(request)],
        ...(isSuccess ? {} : { code: 'ChannelTestFailed' }),
        time,
        data: { model, time, reason },
      }
    },
  })
}
