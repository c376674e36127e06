import { DEFAULT_CONTEXT_TIERS } from '#domain/pricing/built-in-prices.ts'
import { CONTEXT_TIERS_KEY, contextTiersText } from '#domain/pricing/context-tiers.ts'
import { DEFAULT_GROUP_RATIOS, DEFAULT_RATIOS, ratiosText } from '#domain/pricing/default-ratios.ts'
import { outputCapsText } from '#domain/pricing/output-limits-by-model.ts'
import { BATCH_RATIO_KEY } from '#domain/pricing/price-list.ts'
import { TOOL_PRICES_KEY } from '#domain/pricing/tool-prices.ts'
import { VIDEO_PRICE_UNITS } from '#domain/pricing/video-prices.ts'
import type { OptionSection } from '../option-definition.ts'
import { decimal, FLAG, integer, NAMES, type OptionType, RATIOS, URL_TEXT } from '../option-type.ts'

const ratios = (key: string): string => ratiosText(DEFAULT_RATIOS.get(key) ?? new Map())

export const PRICES: OptionSection = {
  id: 'prices',
  tab: 'operation',
  options: [
    {
      key: 'ModelPrice',
      type: RATIOS,
      preset: ratios('ModelPrice'),
      entryUnits: VIDEO_PRICE_UNITS,
    },
    { key: 'ModelRatio', type: RATIOS, preset: ratios('ModelRatio') },
    { key: 'CompletionRatio', type: RATIOS, preset: ratios('CompletionRatio') },
    { key: 'CacheRatio', type: RATIOS, preset: ratios('CacheRatio') },
    { key: 'MaxOutputTokens', type: { kind: 'counts' }, preset: outputCapsText() },
    { key: 'DefaultMaxOutputTokens', type: integer(1, 10_000_000), preset: '16384' },
    { key: 'PresetRatioUrl', type: URL_TEXT, isOutboundAddress: true, preset: '', access: 'root' },
  ],
}

export const OTHER_RATIOS: OptionSection = {
  id: 'ratios',
  tab: 'operation',
  options: [
    {
      key: 'CreateCacheRatio',
      type: RATIOS,
      preset: ratiosText(DEFAULT_RATIOS.get('CreateCacheRatio') ?? new Map()),
    },
    { key: 'ImageRatio', type: RATIOS, preset: ratios('ImageRatio') },
    { key: 'AudioRatio', type: RATIOS, preset: ratios('AudioRatio') },
    { key: 'AudioCompletionRatio', type: RATIOS, preset: ratios('AudioCompletionRatio') },
    { key: 'ImageCompletionRatio', type: RATIOS, preset: ratios('ImageCompletionRatio') },
    {
      key: CONTEXT_TIERS_KEY,
      type: { kind: 'context-tiers' },
      preset: contextTiersText(DEFAULT_CONTEXT_TIERS),
    },
    { key: TOOL_PRICES_KEY, type: RATIOS, preset: ratios(TOOL_PRICES_KEY) },
    { key: BATCH_RATIO_KEY, type: decimal('0', '1'), preset: '0.5' },
  ],
}

/** The names that `GroupColors` accepts. The console defines the shade of each color. */
const GROUP_COLOURS = [
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

const COLOUR_BY_GROUP: OptionType = { kind: 'choice-by-name', choices: GROUP_COLOURS }

export const GROUPS: OptionSection = {
  id: 'groups',
  tab: 'operation',
  options: [
    {
      key: 'GroupRatio',
      // New users are in the group `default`. Without a ratio for this group, new users could not
      // make calls.
      type: { kind: 'ratios', required: 'default' },
      preset: ratiosText(DEFAULT_GROUP_RATIOS),
    },
    {
      key: 'UserUsableGroups',
      type: NAMES,
      preset: '{\n  "default": "默认分组",\n  "vip": "vip分组"\n}',
    },
    { key: 'GroupGroupRatio', type: { kind: 'nested-ratios' }, preset: '{}' },
    { key: 'GroupColors', type: COLOUR_BY_GROUP, preset: '{}' },
  ],
}

const RATIO = decimal('0', '1000000', true)

export const FALLBACK_PRICING: OptionSection = {
  id: 'fallback',
  tab: 'operation',
  options: [
    { key: 'fallback_pricing_enabled', type: FLAG, preset: 'false' },
    { key: 'fallback_single_price', type: RATIO, preset: '', unit: 'dollar' },
    { key: 'fallback_input_ratio', type: RATIO, preset: '' },
    { key: 'fallback_completion_ratio', type: RATIO, preset: '' },
  ],
}
