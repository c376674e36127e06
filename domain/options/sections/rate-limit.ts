import type { OptionSection } from '../option-definition.ts'
import { FLAG, integer, lines } from '../option-type.ts'

const COUNT_MAX = 1_000_000_000
const MINUTES_OF_A_YEAR = 525_600

export const RATE_LIMIT: OptionSection = {
  id: 'rate-limit',
  tab: 'ratelimit',
  title: { zh: '模型请求速率限制', en: 'Model request rate limit' },
  lead: {
    zh: '按用户统计，超过后返回 429。',
    en: 'Counted per user; answered with 429 beyond it.',
  },
  options: [
    {
      key: 'ModelRequestRateLimitEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用速率限制', en: 'Limit the calls of each user' },
    },
    {
      key: 'ModelRequestRateLimitDurationMinutes',
      type: integer(1, MINUTES_OF_A_YEAR),
      preset: '1',
      unit: 'minute',
      label: { zh: '统计周期', en: 'Period' },
    },
    {
      key: 'ModelRequestRateLimitCount',
      type: integer(-1, COUNT_MAX),
      preset: '0',
      label: { zh: '最多请求次数', en: 'Calls per period' },
      help: {
        zh: '包含失败的请求，0 或 -1 表示不限制。',
        en: 'Failed ones included; 0 or -1: no limit.',
      },
    },
    {
      key: 'ModelRequestRateLimitSuccessCount',
      type: integer(1, COUNT_MAX),
      preset: '1000',
      label: { zh: '最多成功次数', en: 'Successful calls per period' },
      help: { zh: '只计成功的请求，至少为 1。', en: 'Only calls that succeeded; at least 1.' },
    },
    {
      key: 'ModelRequestRateLimitTokensPerMinute',
      type: integer(0, COUNT_MAX),
      preset: '0',
      label: { zh: '每分钟 Token 上限', en: 'Tokens per minute' },
      help: {
        zh: '输入与输出合计，与统计周期无关，0 表示不限制。',
        en: 'Input and output together, whatever the period; 0: no limit.',
      },
    },
  ],
}

export const SCREENING: OptionSection = {
  id: 'screening',
  tab: 'models',
  title: { zh: '屏蔽词过滤设置', en: 'Sensitive words' },
  lead: {
    zh: '命中屏蔽词的请求会被拒绝，不计费；不区分大小写和全半角。',
    en: 'A request with one of these words is refused, at no cost. Case and width don’t matter.',
  },
  options: [
    {
      key: 'CheckSensitiveEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用屏蔽词过滤', en: 'Check for sensitive words' },
    },
    {
      key: 'CheckSensitiveOnPromptEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '检查提示词', en: 'Check prompts' },
    },
    {
      key: 'StopOnSensitiveEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '输出命中时停止', en: 'Stop an answer at a sensitive word' },
      help: {
        zh: '流式输出在命中前停止，已输出部分计费；非流式回答不返回，不计费。',
        en: 'A stream ends before the word, at the cost so far; a plain answer is withheld, free.',
      },
    },
    {
      key: 'SensitiveWords',
      type: lines(200_000),
      preset: '',
      label: { zh: '屏蔽词列表', en: 'Words that are not let through' },
      help: { zh: '每行一个。', en: 'One a line.' },
    },
  ],
}
