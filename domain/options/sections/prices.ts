import { DEFAULT_RATIOS, ratiosText } from '../../pricing/default-ratios.ts'
import { outputCapsText } from '../../pricing/output-caps.ts'
import { integer, RATIOS, URL_TEXT } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

const ratios = (key: string): string => ratiosText(DEFAULT_RATIOS.get(key) ?? new Map())

export const PRICES: OptionSection = {
  id: 'prices',
  tab: 'operation',
  title: { zh: '模型价格', en: 'Model prices' },
  lead: {
    zh: '倍率 1 等于每百万输入 tokens $2；费用 = tokens 数 × 模型倍率 × 分组倍率。',
    en: 'A ratio of 1 is $2 per million input tokens; cost = tokens × model ratio × group ratio.',
  },
  options: [
    {
      key: 'ModelPrice',
      type: RATIOS,
      preset: ratios('ModelPrice'),
      label: { zh: '模型固定价格', en: 'Fixed prices' },
      help: {
        zh: '模型 → 每次调用的美元价格，优先于倍率。',
        en: 'Model → dollars per call; counts before ratios.',
      },
    },
    {
      key: 'ModelRatio',
      type: RATIOS,
      preset: ratios('ModelRatio'),
      label: { zh: '模型倍率', en: 'Model ratios' },
      help: {
        zh: '模型 → 倍率，1 = $2 / 百万输入 tokens。',
        en: 'Model → ratio; 1 = $2 per million input tokens.',
      },
    },
    {
      key: 'CompletionRatio',
      type: RATIOS,
      preset: ratios('CompletionRatio'),
      label: { zh: '补全倍率', en: 'Completion ratios' },
      help: {
        zh: '模型 → 输出价格与输入价格之比。',
        en: 'Model → output price divided by input price.',
      },
    },
    {
      key: 'CacheRatio',
      type: RATIOS,
      preset: ratios('CacheRatio'),
      label: { zh: '缓存倍率', en: 'Cache ratios' },
      help: {
        zh: '模型 → 缓存命中的输入所占的价格比例。',
        en: 'Model → share of the price for input read from the cache.',
      },
    },
    {
      key: 'MaxOutputTokens',
      type: { kind: 'counts' },
      preset: outputCapsText(),
      label: { zh: '模型最大输出 tokens', en: 'Max output tokens of models' },
      help: {
        zh: '模型 → 单次回答最多输出的 tokens（含推理）。请求未给出上限时，按此冻结额度。',
        en: 'Model → most output tokens of an answer; held when the request sets no limit.',
      },
    },
    {
      key: 'DefaultMaxOutputTokens',
      type: integer(1, 10_000_000),
      preset: '16384',
      label: { zh: '默认最大输出 tokens', en: 'Default max output tokens' },
      help: {
        zh: '未在上表中的模型按此冻结额度；流式回答超出后会继续冻结，直至余额用尽。',
        en: 'Held for models without an entry; a stream that goes on beyond it holds more.',
      },
    },
    {
      key: 'PresetRatioUrl',
      type: URL_TEXT,
      isAsked: true,
      preset: '',
      access: 'root',
      label: { zh: '预设倍率地址', en: 'Address of preset ratios' },
      help: {
        zh: '其下为 <来源>/prompt.json、completion.json 与 max_output.json；留空则用内置列表。',
        en: 'Has <source>/prompt.json, completion.json and max_output.json; empty: shipped lists.',
      },
    },
  ],
}
