import { DEFAULT_GROUP_RATIOS, DEFAULT_RATIOS, ratiosText } from '#domain/pricing/default-ratios.ts'
import { outputCapsText } from '#domain/pricing/output-caps.ts'
import type { OptionSection } from '../option-definition.ts'
import { decimal, FLAG, integer, NAMES, type OptionType, RATIOS, URL_TEXT } from '../option-type.ts'

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
      isOutboundAddress: true,
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

export const OTHER_RATIOS: OptionSection = {
  id: 'ratios',
  tab: 'operation',
  title: { zh: '其他倍率设置', en: 'Other ratios' },
  lead: {
    zh: '模型 → 倍率，相对于该模型的输入价格。',
    en: 'Model → ratio, on that model’s input price.',
  },
  options: [
    {
      key: 'CreateCacheRatio',
      type: RATIOS,
      preset: ratiosText(DEFAULT_RATIOS.get('CreateCacheRatio') ?? new Map()),
      label: { zh: '缓存创建倍率', en: 'Cache write ratios' },
    },
    {
      key: 'ImageRatio',
      type: RATIOS,
      preset: '{}',
      label: { zh: '图片输入倍率', en: 'Image input ratios' },
    },
    {
      key: 'AudioRatio',
      type: RATIOS,
      preset: '{}',
      label: { zh: '音频输入倍率', en: 'Audio input ratios' },
    },
    {
      key: 'AudioCompletionRatio',
      type: RATIOS,
      preset: '{}',
      label: { zh: '音频补全倍率', en: 'Audio completion ratios' },
    },
  ],
}

/** The colours for which the console has a badge in the light and the dark theme. */
const BADGE_COLOURS = [
  'grey',
  'blue',
  'cyan',
  'green',
  'yellow',
  'orange',
  'red',
  'pink',
  'purple',
] as const

const COLOUR_BY_GROUP: OptionType = { kind: 'choice-by-name', choices: BADGE_COLOURS }

export const GROUPS: OptionSection = {
  id: 'groups',
  tab: 'operation',
  title: { zh: '分组设置', en: 'Groups' },
  lead: {
    zh: '同一模型可以按分组以不同倍率出售。',
    en: 'The same model may be sold at another ratio in each group.',
  },
  options: [
    {
      key: 'GroupRatio',
      // New users are in the group `default`. Without a ratio, they could not make calls.
      type: { kind: 'ratios', required: 'default' },
      preset: ratiosText(DEFAULT_GROUP_RATIOS),
      label: { zh: '分组倍率', en: 'Group ratios' },
      help: { zh: '分组 → 倍率，乘在所有价格上。', en: 'Group → ratio, multiplies every price.' },
    },
    {
      key: 'UserUsableGroups',
      type: NAMES,
      preset: '{\n  "default": "默认分组",\n  "vip": "vip分组"\n}',
      label: { zh: '用户可选分组', en: 'Groups that users may choose' },
      help: {
        zh: '分组 → 说明，用户新建令牌时可选。',
        en: 'Group → description, offered when a token is made.',
      },
    },
    {
      key: 'GroupGroupRatio',
      type: { kind: 'nested-ratios' },
      preset: '{}',
      label: { zh: '分组特殊倍率', en: 'Special group ratios' },
      help: {
        zh: '用户所在分组 → 所用令牌的分组 → 倍率，代替后者自己的倍率。',
        en: 'Group of the user → group of the token → ratio, in place of that group’s own.',
      },
    },
    {
      key: 'GroupColors',
      type: COLOUR_BY_GROUP,
      preset: '{}',
      label: { zh: '分组颜色', en: 'Group colours' },
      help: {
        zh: `分组 → 标签颜色：${BADGE_COLOURS.join('、')}。`,
        en: `Group → colour of its badge: ${BADGE_COLOURS.join(', ')}.`,
      },
    },
  ],
}

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
