import type { OptionSection } from '../option-definition.ts'
import { decimal, FLAG, integer, lines } from '../option-type.ts'

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

export const CHANNEL_HEALTH: OptionSection = {
  id: 'channel-health',
  tab: 'models',
  title: { zh: '渠道健康', en: 'Channel health' },
  lead: {
    zh: '连续失败的渠道会暂时熔断，恢复后自动放行。',
    en: 'Calls pass a failing channel by for a while, and come back once it is well.',
  },
  options: [
    {
      key: 'channel_health.circuit_enabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '熔断失败的渠道', en: 'Open circuits of failing channels' },
      help: {
        zh: '模型仅剩的渠道不会被完全停用。',
        en: 'The only channel of a model still gets its calls.',
      },
    },
    {
      key: 'channel_health.circuit_failures',
      type: integer(1, 1_000),
      preset: '5',
      label: { zh: '熔断所需的连续失败次数', en: 'Failures in a row that open a circuit' },
    },
    {
      key: 'channel_health.circuit_rate',
      type: integer(1, 100),
      preset: '50',
      unit: 'percent',
      label: { zh: '或失败率达到', en: 'Or this share of failed calls' },
    },
    {
      key: 'channel_health.circuit_rate_calls',
      type: integer(2, 100_000),
      preset: '20',
      label: { zh: '计算失败率所需的最少调用数', en: 'Calls needed before the share counts' },
    },
    {
      key: 'channel_health.circuit_window_seconds',
      type: integer(1, 3_600),
      preset: '30',
      unit: 'second',
      label: { zh: '统计时间窗口', en: 'Time within which failures count' },
    },
    {
      key: 'channel_health.circuit_cooldown_seconds',
      type: integer(1, 3_600),
      preset: '30',
      unit: 'second',
      label: { zh: '首次熔断时长', en: 'First pause of a circuit' },
      help: {
        zh: '每次试探失败后翻倍；上游给出的 Retry-After 优先。',
        en: 'Doubles each time the channel fails again; a provider’s Retry-After is kept to.',
      },
    },
    {
      key: 'channel_health.circuit_cooldown_max_seconds',
      type: integer(1, 86_400),
      preset: '600',
      unit: 'second',
      label: { zh: '最长熔断时长', en: 'Longest pause of a circuit' },
    },
    {
      key: 'channel_health.disable_failures',
      type: integer(1, 1_000),
      preset: '3',
      label: { zh: '自动禁用所需的账户错误次数', en: 'Account errors that turn a channel off' },
      help: {
        zh: '密钥或账户被拒、命中关键词均计入，其间成功一次即重新计数。',
        en: 'Refused keys, refused accounts and keywords count. A success resets the count.',
      },
    },
    {
      key: 'channel_health.disable_window_seconds',
      type: integer(1, 86_400),
      preset: '600',
      unit: 'second',
      label: { zh: '账户错误统计时间', en: 'Time within which account errors count' },
    },
    {
      key: 'channel_health.slow_tests',
      type: integer(1, 1_000),
      preset: '3',
      label: {
        zh: '自动禁用所需的连续慢测试次数',
        en: 'Slow tests in a row that turn a channel off',
      },
      help: {
        zh: '只计定时测试，见「最长测试响应时间」；一次达标即重新计数。',
        en: 'Scheduled tests above the time limit count. A test within the limit resets the count.',
      },
    },
    {
      key: 'channel_health.test_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '定时测试所有渠道', en: 'Test all channels on a schedule' },
      help: {
        zh: '测试会向上游发送请求，可能产生费用。',
        en: 'Tests are real requests, which providers may charge.',
      },
    },
    {
      key: 'channel_health.test_minutes',
      type: integer(1, 1_440),
      preset: '10',
      unit: 'minute',
      label: { zh: '测试间隔', en: 'Time between tests' },
    },
  ],
}
