import { WITH_CLAUDE } from '../notes.ts'
import { decimal, FLAG } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const CLAUDE: OptionSection = {
  id: 'claude',
  tab: 'models',
  title: { zh: 'Claude 设置', en: 'Claude settings' },
  options: [
    {
      key: 'claude.model_headers_settings',
      type: { kind: 'object' },
      preset: '{}',
      label: { zh: 'Claude 请求头覆盖', en: 'Claude request headers' },
      help: {
        zh: '模型 → 请求头，例如 {"claude-x":{"anthropic-beta":["output-128k"]}}。',
        en: 'Model → headers, as {"claude-x":{"anthropic-beta":["output-128k"]}}.',
      },
      note: WITH_CLAUDE,
    },
    {
      key: 'claude.default_max_tokens',
      type: { kind: 'counts' },
      preset: '{"default":8192}',
      label: { zh: '缺省 MaxTokens', en: 'Claude answer limits' },
      help: {
        zh: '模型 → 请求没有给出上限时的 max_tokens，default 为默认。',
        en: 'Model → max_tokens when a request gives none; `default` for the rest.',
      },
      note: WITH_CLAUDE,
    },
    {
      key: 'claude.thinking_adapter_enabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '启用 Claude 思考适配', en: 'Claude thinking by model suffix' },
      help: {
        zh: '以 -thinking 结尾的模型名称开启思考。',
        en: 'Model names that end in -thinking turn it on.',
      },
      note: WITH_CLAUDE,
    },
    {
      key: 'claude.thinking_adapter_budget_tokens_percentage',
      type: decimal('0.1', '1'),
      preset: '0.8',
      label: { zh: 'Claude 思考预算占比', en: 'Claude thinking share' },
      help: {
        zh: '占 max_tokens 的比例，0.1 至 1。',
        en: 'Share of max_tokens, 0.1 to 1.',
      },
      note: WITH_CLAUDE,
    },
  ],
}
