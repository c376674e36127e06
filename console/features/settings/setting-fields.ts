import type { Words } from '#console/i18n/i18n.ts'

export const TABS = ['operation', 'ratelimit', 'models', 'system', 'other'] as const
export type SettingsTab = (typeof TABS)[number]

/** One option as a field: how it is typed, its bounds, and its words in `settings.field`. */
export type SettingField = {
  key: string
  words: keyof Words['settings']['field']
  kind: 'integer' | 'flag' | 'text'
  min?: number
  max?: number
}

export type SettingSection = {
  id: 'quota' | 'rate' | 'routing' | 'general' | 'site'
  fields: readonly SettingField[]
}

const flag = (key: string, words: SettingField['words']): SettingField => ({
  key,
  words,
  kind: 'flag',
})
const text = (key: string, words: SettingField['words']): SettingField => ({
  key,
  words,
  kind: 'text',
})
const integer = (key: string, words: SettingField['words'], min: number, max?: number) => ({
  key,
  words,
  kind: 'integer' as const,
  min,
  ...(max === undefined ? {} : { max }),
})

const MINUTES_OF_A_YEAR = 525_600
const COUNT_MAX = 1_000_000_000

/** Which plain fields each tab shows; the prices and groups of `operation` have their own forms. */
export const SECTIONS: Readonly<Record<SettingsTab, readonly SettingSection[]>> = {
  operation: [
    {
      id: 'quota',
      fields: [
        integer('QuotaForNewUser', 'QuotaForNewUser', 0, Number.MAX_SAFE_INTEGER),
        integer('PreConsumedQuota', 'PreConsumedQuota', 0, Number.MAX_SAFE_INTEGER),
        integer('QuotaPerUnit', 'QuotaPerUnit', 1, 1_000_000_000),
        flag('DisplayInCurrencyEnabled', 'DisplayInCurrencyEnabled'),
      ],
    },
  ],
  ratelimit: [
    {
      id: 'rate',
      fields: [
        flag('ModelRequestRateLimitEnabled', 'ModelRequestRateLimitEnabled'),
        integer(
          'ModelRequestRateLimitDurationMinutes',
          'ModelRequestRateLimitDurationMinutes',
          1,
          MINUTES_OF_A_YEAR,
        ),
        integer('ModelRequestRateLimitCount', 'ModelRequestRateLimitCount', -1, COUNT_MAX),
        integer(
          'ModelRequestRateLimitSuccessCount',
          'ModelRequestRateLimitSuccessCount',
          1,
          COUNT_MAX,
        ),
        integer(
          'ModelRequestRateLimitTokensPerMinute',
          'ModelRequestRateLimitTokensPerMinute',
          0,
          COUNT_MAX,
        ),
        flag('global.rate_limit_exempt_enabled', 'rateExempt'),
        text('global.rate_limit_exempt_group', 'rateExemptGroup'),
      ],
    },
  ],
  models: [
    {
      id: 'routing',
      fields: [
        integer('RetryTimes', 'RetryTimes', 0, 3),
        flag('AutomaticDisableChannelEnabled', 'AutomaticDisableChannelEnabled'),
      ],
    },
    {
      id: 'general',
      fields: [
        flag('global.hide_upstream_error_enabled', 'hideUpstreamError'),
        flag('global.block_browser_extension_enabled', 'blockBrowserExtension'),
        flag('general_setting.ping_interval_enabled', 'pingEnabled'),
        integer('general_setting.ping_interval_seconds', 'pingSeconds', 1, 3_600),
      ],
    },
  ],
  system: [
    {
      id: 'site',
      fields: [
        text('SystemName', 'SystemName'),
        text('ServerAddress', 'ServerAddress'),
        text('general_setting.docs_link', 'docsLink'),
      ],
    },
  ],
  other: [],
}

export const JSON_OPTIONS = {
  ModelPrice: 'number',
  ModelRatio: 'number',
  CompletionRatio: 'number',
  CacheRatio: 'number',
  GroupRatio: 'number',
  UserUsableGroups: 'text',
} as const
export type JsonOption = keyof typeof JSON_OPTIONS

export const isJsonOption = (key: string): key is JsonOption => Object.hasOwn(JSON_OPTIONS, key)

const FIELDS = new Map(
  Object.values(SECTIONS).flatMap((sections) =>
    sections.flatMap(({ fields }) => fields.map((field) => [field.key, field] as const)),
  ),
)

/** The plain field of an option; undefined for those that have forms of their own. */
export const fieldOf = (key: string): SettingField | undefined => FIELDS.get(key)
