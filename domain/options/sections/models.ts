import type { OptionSection } from '../option-definition.ts'
import { decimal, FLAG, integer, LIST, NAMES, text } from '../option-type.ts'

export const CLAUDE: OptionSection = {
  id: 'claude',
  tab: 'models',
  options: [
    {
      key: 'claude.model_headers_settings',
      type: { kind: 'object' },
      preset: '{}',
      hasNoEffect: true,
    },
    {
      key: 'claude.default_max_tokens',
      type: { kind: 'counts' },
      preset: '{"default":8192}',
    },
    { key: 'claude.thinking_adapter_enabled', type: FLAG, preset: 'true', hasNoEffect: true },
    {
      key: 'claude.thinking_adapter_budget_tokens_percentage',
      type: decimal('0.1', '1'),
      preset: '0.8',
      hasNoEffect: true,
    },
  ],
}

export const GEMINI: OptionSection = {
  id: 'gemini',
  tab: 'models',
  options: [
    { key: 'gemini.safety_settings', type: NAMES, preset: '{}', hasNoEffect: true },
    { key: 'gemini.version_settings', type: NAMES, preset: '{}', hasNoEffect: true },
    { key: 'gemini.supported_imagine_models', type: LIST, preset: '[]', hasNoEffect: true },
    {
      key: 'gemini.models_supported_thinking_budget',
      type: LIST,
      preset: '[]',
      hasNoEffect: true,
    },
    { key: 'gemini.thinking_adapter_enabled', type: FLAG, preset: 'false', hasNoEffect: true },
    {
      key: 'gemini.thinking_adapter_budget_tokens_percentage',
      type: decimal('0.002', '1'),
      preset: '0.6',
      hasNoEffect: true,
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
  ],
}
