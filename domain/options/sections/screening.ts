import { FLAG, lines } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

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
