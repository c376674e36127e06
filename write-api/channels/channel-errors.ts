import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { CHANNEL_TARGET_ERRORS } from '#infra/http/check-channel-address-and-proxy.ts'
import {
  type ErrorCatalogue,
  errorsOf,
  invalidFieldMessage,
} from '#infra/http/http-error-class-and-catalogue.ts'
import { appendNames, validationMessage } from '../error-messages-for-invalid-values.ts'

const EXPIRED: TranslatedText = {
  zh: '渠道已过期，无法启用，请先修改过期时间，或者设置为永不过期',
  en: 'The channel has expired and cannot be enabled. Change its expiry or let it never expire',
}
const SEVERAL_EXPIRED: TranslatedText = {
  zh: EXPIRED.zh,
  en: 'These channels have expired. Change their expiry or let them never expire',
}

export const CHANNEL_ERRORS = {
  ...CHANNEL_TARGET_ERRORS,
  ChannelFieldsRequired: [
    200,
    { zh: '请填写渠道名称和渠道密钥！', en: 'The channel name and the key are required' },
  ],
  NoChannelToDelete: [200, { zh: '请先选择要删除的渠道！', en: 'Select the channels to delete' }],
  NoChannelToTag: [200, { zh: '请先选择要设置标签的渠道！', en: 'Select the channels to tag' }],
  NoChannelSelected: [200, { zh: '请先选择渠道！', en: 'Select at least one channel' }],
  TagRequired: [200, { zh: '标签不能为空！', en: 'The tag must not be empty' }],
  TagUnknown: [200, { zh: '标签不存在', en: 'No channel has this tag' }],
  KeysChanged: [
    409,
    () =>
      invalidFieldMessage('key', {
        zh: '该渠道的密钥刚刚被另一请求更改，请刷新页面后重试',
        en: 'another request has just changed the keys of the channel. Refresh the page and retry',
      }),
  ],
  OneKeyOnly: [200, { zh: '该渠道只能填写一个密钥', en: 'This channel accepts only one key' }],
  KeyRepeated: [
    200,
    { zh: '该渠道已有这个密钥，无需重复添加', en: 'The channel already has this key' },
  ],
  TooManyKeys: [
    200,
    ({ limit = '' }) => ({
      zh: `密钥数量不得超过 ${limit} 个`,
      en: `A channel can have at most ${limit} keys`,
    }),
  ],
  ChannelExists: [200, { zh: '渠道已存在', en: 'The channel already exists' }],
  ModelsRequired: [200, { zh: '请至少选择一个模型！', en: 'Select at least one model' }],
  ChannelExpired: [200, (params) => appendNames(params, EXPIRED, SEVERAL_EXPIRED)],
  WorkInFlight: [
    409,
    ({ tasks = 0, batches = 0 }) => ({
      zh:
        `仍有 ${tasks} 个任务、${batches} 个批处理未完成。` +
        '没有原来的密钥将无法获取结果，也无法向用户计费，但上游仍会收费。' +
        '请等待完成，或强制执行（force）',
      en:
        `Work is unfinished (tasks: ${tasks}, batches: ${batches}). Without the original key, ` +
        'the results can be neither fetched nor billed, but the provider still charges for them. ' +
        'Wait until the work has finished, or repeat the request with force',
    }),
  ],
  SubmissionsPaused: [
    409,
    {
      zh: '另一请求正在删除该渠道或更换其密钥，请稍后重试',
      en: 'Another request is deleting a channel or replacing its keys. Try again in a moment',
    },
  ],
  SubmissionsNotPaused: [
    409,
    {
      zh: '检查未完成的任务用时过长，未作任何更改，请重试',
      en: 'The check for unfinished work took too long, so nothing was changed. Try again',
    },
  ],
  NameRequired: [200, { zh: '名称不能为空', en: 'The name is required' }],
  InvalidField: [
    400,
    ({ field = '', ...params }) => invalidFieldMessage(String(field), validationMessage(params)),
  ],
} satisfies ErrorCatalogue<string>

export const channelError = errorsOf(CHANNEL_ERRORS)
