import { WITH_CLAUDE, WITH_GEMINI } from '../notes-for-options-without-effect.ts'
import type { OptionSection } from '../option-definition.ts'
import { decimal, FLAG, integer, LIST, NAMES, text } from '../option-type.ts'

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

export const GEMINI: OptionSection = {
  id: 'gemini',
  tab: 'models',
  title: { zh: 'Gemini 设置', en: 'Gemini settings' },
  options: [
    {
      key: 'gemini.safety_settings',
      type: NAMES,
      preset: '{}',
      label: { zh: 'Gemini 安全设置', en: 'Gemini safety thresholds' },
      help: {
        zh: '类别 → 阈值，default 为默认，例如 {"default":"OFF"}。',
        en: 'Category → threshold, `default` for the rest, as {"default":"OFF"}.',
      },
      note: WITH_GEMINI,
    },
    {
      key: 'gemini.version_settings',
      type: NAMES,
      preset: '{}',
      label: { zh: 'Gemini 版本设置', en: 'Gemini API versions' },
      help: {
        zh: '模型 → 接口版本，default 为默认，例如 {"default":"v1beta"}。',
        en: 'Model → version, `default` for the rest, as {"default":"v1beta"}.',
      },
      note: WITH_GEMINI,
    },
    {
      key: 'gemini.supported_imagine_models',
      type: LIST,
      preset: '[]',
      label: { zh: '支持画图的模型', en: 'Gemini models that draw' },
      help: { zh: '模型名称的 JSON 数组。', en: 'A JSON list of model names.' },
      note: WITH_GEMINI,
    },
    {
      key: 'gemini.models_supported_thinking_budget',
      type: LIST,
      preset: '[]',
      label: { zh: '支持思考预算的模型', en: 'Gemini models with a thinking budget' },
      help: { zh: '模型名称的 JSON 数组。', en: 'A JSON list of model names.' },
      note: WITH_GEMINI,
    },
    {
      key: 'gemini.thinking_adapter_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用 Gemini 思考后缀适配', en: 'Gemini thinking by model suffix' },
      help: {
        zh: '以 -thinking 或 -nothinking 结尾的模型名称开启或关闭思考。',
        en: 'Model names that end in -thinking or -nothinking turn it on or off.',
      },
      note: WITH_GEMINI,
    },
    {
      key: 'gemini.thinking_adapter_budget_tokens_percentage',
      type: decimal('0.002', '1'),
      preset: '0.6',
      label: { zh: 'Gemini 思考预算占比', en: 'Gemini thinking share' },
      help: {
        zh: '占最大输出 tokens 的比例，0.002 至 1。',
        en: 'Share of the most output tokens, 0.002 to 1.',
      },
      note: WITH_GEMINI,
    },
  ],
}

export const GLOBAL: OptionSection = {
  id: 'global',
  tab: 'models',
  title: { zh: '全局设置', en: 'Global settings' },
  lead: { zh: '对所有渠道生效。', en: 'For all channels.' },
  options: [
    {
      key: 'global.pass_through_request_enabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '启用请求透传', en: 'Pass requests through' },
      help: {
        zh: '请求按读取结果重新序列化后转发：不应用渠道的参数覆盖，模型映射照常生效。',
        en: 'Requests go on as they were read: no overrides of channels; models stay mapped.',
      },
    },
    {
      key: 'global.hide_upstream_error_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '隐藏上游错误详情', en: 'Hide the words of providers’ errors' },
      help: { zh: '调用方只看到通用的错误信息。', en: 'Callers see a general error instead.' },
    },
    {
      key: 'global.rate_limit_exempt_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '速率限制豁免一个分组', en: 'Exempt a group from rate limits' },
    },
    {
      key: 'global.rate_limit_exempt_group',
      type: text(200),
      preset: 'bulk-ok',
      label: { zh: '豁免速率限制的分组', en: 'Group without rate limits' },
    },
    {
      key: 'global.safe_check_exempt_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '敏感词检查豁免一个分组', en: 'Exempt a group from the word check' },
    },
    {
      key: 'global.safe_check_exempt_group',
      type: text(200),
      preset: 'nsfw-ok',
      label: { zh: '豁免敏感词检查的分组', en: 'Group without the word check' },
    },
    {
      key: 'general_setting.ping_interval_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '流式空闲时发送心跳', en: 'Keep quiet streams alive' },
      help: {
        zh: '防止中间代理断开等待中的连接。',
        en: 'So that proxies in between don’t cut a stream that waits.',
      },
    },
    {
      key: 'general_setting.ping_interval_seconds',
      type: integer(1, 3_600),
      preset: '60',
      unit: 'second',
      label: { zh: '心跳间隔', en: 'Ping interval' },
    },
    {
      key: 'global.block_browser_extension_enabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '拒绝浏览器扩展的请求', en: 'Refuse browser extensions' },
      help: { zh: '按 Origin 识别浏览器扩展。', en: 'Known by their Origin.' },
    },
  ],
}
