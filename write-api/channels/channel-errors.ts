import { type ErrorCatalogue, errorsOf } from '#infra/http/http-errors.ts'
import type { Words } from '#infra/http/language.ts'
import { appendNames, validationWords } from '../validation-words.ts'

const EXPIRED: Words = {
  zh: '渠道已过期，无法启用，请先修改过期时间，或者设置为永不过期',
  en: 'The channel has expired: give it another expiry first, or let it never expire',
}
const EXPIRED_ONES: Words = {
  zh: EXPIRED.zh,
  en: 'Expired channels need another expiry first, or to never expire',
}

export const CHANNEL_ERRORS = {
  ChannelFieldsRequired: [
    200,
    { zh: '请填写渠道名称和渠道密钥！', en: 'Channel name and channel key are required' },
  ],
  NoChannelToDelete: [
    200,
    { zh: '请先选择要删除的通道！', en: 'Select the channels to delete first' },
  ],
  NoChannelToTag: [
    200,
    { zh: '请先选择要设置标签的渠道！', en: 'Select the channels to tag first' },
  ],
  NoChannelSelected: [200, { zh: '请先选择渠道！', en: 'Select the channels first' }],
  TagRequired: [200, { zh: '标签不能为空！', en: 'The tag must not be empty' }],
  TagUnknown: [200, { zh: '标签不存在', en: 'No channel has this tag' }],
  OneKeyOnly: [
    200,
    { zh: '该渠道只能填写一个密钥', en: 'This channel takes one key: several lines were given' },
  ],
  KeyRepeated: [
    200,
    { zh: '该渠道已有这个密钥，无需重复添加', en: 'The channel has this key already' },
  ],
  TooManyKeys: [
    200,
    ({ limit = '' }) => ({ zh: `密钥数量不得超过 ${limit} 个`, en: `At most ${limit} keys` }),
  ],
  // NOTE: the same words whatever is at the address, or they would map a private network.
  AddressNotAllowed: [
    200,
    {
      zh: '参数 base_url 无效：不允许使用该地址（内网地址须列入 PRIVATE_UPSTREAMS）',
      en: 'Invalid field base_url: not an allowed address (PRIVATE_UPSTREAMS lists private ones)',
    },
  ],
  ProxyNotAllowed: [
    200,
    {
      zh: '参数 setting 无效：不允许使用 setting.proxy 的地址（内网地址须列入 PRIVATE_UPSTREAMS）',
      en: 'Invalid field setting: setting.proxy is no allowed address (see PRIVATE_UPSTREAMS)',
    },
  ],
  ChannelUnknown: [
    404,
    ({ id }) => ({
      zh: `渠道未找到，请刷新页面后重试。${id === undefined ? '' : `（#${id}）`}`,
      en: `Channel not found, please refresh the page.${id === undefined ? '' : ` (#${id})`}`,
    }),
  ],
  ChannelExists: [200, { zh: '渠道已存在', en: 'The channel exists already' }],
  ModelsRequired: [200, { zh: '请至少选择一个模型！', en: 'Choose at least one model' }],
  KeyRequired: [
    200,
    {
      zh: '请填写密钥：更改渠道类型、地址或代理时必须重新填写',
      en: 'Enter the key: a new type, address or proxy of a channel needs it again',
    },
  ],
  ChannelExpired: [200, (params) => appendNames(params, EXPIRED, EXPIRED_ONES)],
  NameRequired: [200, { zh: '名称不能为空', en: 'The name is required' }],
  InvalidField: [
    400,
    ({ field = '', ...params }) => {
      const { zh, en } = validationWords(params)
      return { zh: `参数 ${field} 无效：${zh}`, en: `Invalid field ${field}: ${en}` }
    },
  ],
} satisfies ErrorCatalogue<string>

export const channelError = errorsOf(CHANNEL_ERRORS)
