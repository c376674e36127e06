import { WITH_GEMINI } from '../notes.ts'
import { decimal, FLAG, LIST, NAMES } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

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
