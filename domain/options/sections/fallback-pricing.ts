import { decimal, FLAG } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

const RATIO = decimal('0', '1000000', true)

export const FALLBACK_PRICING: OptionSection = {
  id: 'fallback',
  tab: 'operation',
  title: { zh: '兜底价格', en: 'Fallback price' },
  lead: {
    zh: '没有单独定价的模型按此计费；不启用则拒绝调用。',
    en: 'For models without a price of their own; off: their calls are refused.',
  },
  options: [
    {
      key: 'fallback_pricing_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用兜底价格', en: 'Price models that have no price' },
    },
    {
      key: 'fallback_single_price',
      type: RATIO,
      preset: '',
      unit: 'dollar',
      label: { zh: '兜底每次调用价格', en: 'Fallback price per call' },
    },
    {
      key: 'fallback_input_ratio',
      type: RATIO,
      preset: '',
      label: { zh: '兜底输入倍率', en: 'Fallback input ratio' },
    },
    {
      key: 'fallback_completion_ratio',
      type: RATIO,
      preset: '',
      label: { zh: '兜底补全倍率', en: 'Fallback completion ratio' },
    },
  ],
}
