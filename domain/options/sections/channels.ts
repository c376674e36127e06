import { decimal, FLAG, integer, lines } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const CHANNELS: OptionSection = {
  id: 'channels',
  tab: 'models',
  title: { zh: '渠道与重试', en: 'Channels and retries' },
  lead: { zh: '渠道失败时如何处理。', en: 'What happens when a channel fails.' },
  options: [
    {
      key: 'RetryTimes',
      type: integer(0, 3),
      preset: '0',
      label: { zh: '失败重试次数', en: 'Retries after a failure' },
      help: {
        zh: '首字节之前失败时，换其他渠道重试的次数。',
        en: 'When a call fails before its first byte.',
      },
    },
    {
      key: 'AutomaticDisableChannelEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '自动禁用失败的渠道', en: 'Turn failing channels off' },
      help: {
        zh: '关闭时也不停用失败的密钥。只影响开启了「自动禁用」的渠道；某分组中某模型仅剩的渠道不会被禁用。',
        en: 'Failing keys too. Only channels that allow it, never the last of a model in a group.',
      },
    },
    {
      key: 'AutomaticEnableChannelEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '自动启用恢复的渠道', en: 'Turn recovered channels on again' },
      help: {
        zh: '只影响被自动禁用的渠道，定时测试通过后重新启用；请同时开启定时测试。',
        en: 'Those turned off automatically, once the scheduled test succeeds: turn that on too.',
      },
    },
    {
      key: 'ChannelDisableThreshold',
      type: decimal('0', '86400'),
      preset: '5',
      unit: 'second',
      label: { zh: '最长测试响应时间', en: 'Slowest test allowed' },
      help: {
        zh: '定时测试用时超过此值为慢，连续多次后自动禁用；0 为不限。',
        en: 'A scheduled test that takes longer is slow; several in a row turn off. 0: no limit.',
      },
    },
    {
      key: 'AutomaticDisableKeywords',
      type: lines(20_000),
      preset: '',
      label: { zh: '自动禁用关键词', en: 'Keywords that turn a channel off' },
      help: {
        zh: '每行一个，只与上游错误的字段比对，不看回答内容。',
        en: 'One a line; compared with fields of providers’ errors, never with answers.',
      },
    },
  ],
}
