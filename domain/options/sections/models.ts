import type { OptionSection } from '../option-definition.ts'
import type { OptionType } from '../option-type.ts'
import { decimal, FLAG, integer, LIST, text } from '../option-type.ts'

export const CLAUDE: OptionSection = {
  id: 'claude',
  tab: 'models',
  options: [
    { key: 'claude.model_headers_settings', type: { kind: 'headers-by-name' }, preset: '{}' },
    {
      key: 'claude.default_max_tokens',
      type: { kind: 'counts' },
      preset: '{"default":8192}',
    },
    { key: 'claude.thinking_adapter_enabled', type: FLAG, preset: 'true' },
    {
      key: 'claude.thinking_adapter_budget_tokens_percentage',
      type: decimal('0.1', '1'),
      preset: '0.8',
    },
  ],
}

/** The values of `threshold` in Gemini's `safetySettings`. */
export const SAFETY_THRESHOLDS = [
  ...(['OFF', 'BLOCK_NONE', 'BLOCK_ONLY_HIGH', 'BLOCK_MEDIUM_AND_ABOVE'] as const),
  'BLOCK_LOW_AND_ABOVE',
] as const
/** The versions in the paths of Gemini's API. */
export const GEMINI_VERSIONS = ['v1', 'v1beta', 'v1alpha'] as const

const THRESHOLDS: OptionType = { kind: 'choice-by-name', choices: SAFETY_THRESHOLDS }
const VERSIONS: OptionType = { kind: 'choice-by-name', choices: GEMINI_VERSIONS }

export const GEMINI: OptionSection = {
  id: 'gemini',
  tab: 'models',
  options: [
    { key: 'gemini.safety_settings', type: THRESHOLDS, preset: '{}' },
    { key: 'gemini.version_settings', type: VERSIONS, preset: '{}' },
    { key: 'gemini.supported_imagine_models', type: LIST, preset: '[]' },
    { key: 'gemini.models_supported_thinking_budget', type: LIST, preset: '[]' },
    { key: 'gemini.thinking_adapter_enabled', type: FLAG, preset: 'false' },
    {
      key: 'gemini.thinking_adapter_budget_tokens_percentage',
      type: decimal('0.002', '1'),
      preset: '0.6',
    },
  ],
}

export const GLOBAL: OptionSection = {
  id: 'global',
  tab: 'models',
  options: [
    { key: 'global.pass_through_request_enabled', type: FLAG, preset: 'false', access: 'root' },
    { key: 'global.hide_upstream_error_enabled', type: FLAG, preset: 'false' },
    { key: 'global.rate_limit_exempt_enabled', type: FLAG, preset: 'false' },
    { key: 'global.rate_limit_exempt_group', type: text(200), preset: 'bulk-ok' },
    { key: 'global.safe_check_exempt_enabled', type: FLAG, preset: 'false' },
    { key: 'global.safe_check_exempt_group', type: text(200), preset: 'nsfw-ok' },
    { key: 'general_setting.ping_interval_enabled', type: FLAG, preset: 'false' },
    {
      key: 'general_setting.ping_interval_seconds',
      type: integer(1, 3_600),
      preset: '60',
      unit: 'second',
    },
    { key: 'global.block_browser_extension_enabled', type: FLAG, preset: 'false' },
    { key: 'StoreConvertedResponsesEnabled', type: FLAG, preset: 'false', access: 'root' },
  ],
}
