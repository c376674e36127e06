import { assert } from '#domain/shared/assert.ts'
import { translatedTextOf } from '#domain/shared/translated-text.ts'
import { optionTranslations as en } from '../contract/option-translations/en.ts'
import { optionTranslations as zh } from '../contract/option-translations/zh.ts'
import type { OptionSchema, OptionSection, TranslatedText } from '../contract/options.ts'

/**
 * Returns the note for an option that has no effect yet. Its values are already validated and
 * stored.
 */
const actsLater = (zhName: string, enName: string): TranslatedText => ({
  zh: `此处保存并校验；${zhName}上线后生效。`,
  en: `Saved and validated here. Takes effect once ${enName} built.`,
})

const WITH_GEMINI = actsLater('Gemini 渠道', 'the Gemini provider is')
const WITH_CLAUDE = actsLater('Claude 渠道', 'the Claude provider is')
const WITH_LOOK_UP = actsLater('按密钥查询额度', 'looking up quota by a key is')
const NOTHING_QUEUES: TranslatedText = {
  zh: '为兼容而保留：本网关按背压转发，从不在队列中积压输出。',
  en: 'Kept for compatibility: answers are forwarded as they arrive, and are never queued.',
}
const ALWAYS_RECORDED: TranslatedText = {
  zh: '为兼容而保留：账单以事件为依据，用量始终记录。',
  en: 'Kept for compatibility: usage is always recorded, because bills are based on events.',
}

type TextsWithNote = {
  readonly label: TranslatedText
  readonly help?: TranslatedText
  readonly note: TranslatedText
}

/**
 * The texts of options without effect. The console does not show these options, but `GET
 * /api/option/schema` lists them.
 */
const TEXTS_WITHOUT_EFFECT: ReadonlyMap<string, TextsWithNote> = new Map([
  [
    'StreamCacheQueueLength',
    { label: { zh: '流式缓存队列长度', en: 'Stream lines kept in a queue' }, note: NOTHING_QUEUES },
  ],
  [
    'gemini.safety_settings',
    {
      label: { zh: 'Gemini 安全设置', en: 'Gemini safety thresholds' },
      help: {
        zh: '类别 → 阈值，default 为默认，例如 {"default":"OFF"}。',
        en: 'Category → threshold, `default` for the rest, as {"default":"OFF"}.',
      },
      note: WITH_GEMINI,
    },
  ],
  [
    'gemini.version_settings',
    {
      label: { zh: 'Gemini 版本设置', en: 'Gemini API versions' },
      help: {
        zh: '模型 → 接口版本，default 为默认，例如 {"default":"v1beta"}。',
        en: 'Model → version, `default` for the rest, as {"default":"v1beta"}.',
      },
      note: WITH_GEMINI,
    },
  ],
  [
    'gemini.supported_imagine_models',
    {
      label: { zh: '支持画图的模型', en: 'Gemini models that draw' },
      help: { zh: '模型名称的 JSON 数组。', en: 'A JSON list of model names.' },
      note: WITH_GEMINI,
    },
  ],
  [
    'gemini.models_supported_thinking_budget',
    {
      label: { zh: '支持思考预算的模型', en: 'Gemini models with a thinking budget' },
      help: { zh: '模型名称的 JSON 数组。', en: 'A JSON list of model names.' },
      note: WITH_GEMINI,
    },
  ],
  [
    'gemini.thinking_adapter_enabled',
    {
      label: { zh: '启用 Gemini 思考后缀适配', en: 'Gemini thinking by model suffix' },
      help: {
        zh: '以 -thinking 或 -nothinking 结尾的模型名称开启或关闭思考。',
        en: 'Model names that end in -thinking or -nothinking turn it on or off.',
      },
      note: WITH_GEMINI,
    },
  ],
  [
    'gemini.thinking_adapter_budget_tokens_percentage',
    {
      label: { zh: 'Gemini 思考预算占比', en: 'Gemini thinking share' },
      help: {
        zh: '占最大输出 tokens 的比例，0.002 至 1。',
        en: 'Share of the most output tokens, 0.002 to 1.',
      },
      note: WITH_GEMINI,
    },
  ],
  [
    'claude.model_headers_settings',
    {
      label: { zh: 'Claude 请求头覆盖', en: 'Claude request headers' },
      help: {
        zh: '模型 → 请求头，例如 {"claude-x":{"anthropic-beta":["output-128k"]}}。',
        en: 'Model → headers, as {"claude-x":{"anthropic-beta":["output-128k"]}}.',
      },
      note: WITH_CLAUDE,
    },
  ],
  [
    'claude.thinking_adapter_enabled',
    {
      label: { zh: '启用 Claude 思考适配', en: 'Claude thinking by model suffix' },
      help: {
        zh: '以 -thinking 结尾的模型名称开启思考。',
        en: 'Model names that end in -thinking turn it on.',
      },
      note: WITH_CLAUDE,
    },
  ],
  [
    'claude.thinking_adapter_budget_tokens_percentage',
    {
      label: { zh: 'Claude 思考预算占比', en: 'Claude thinking share' },
      help: { zh: '占 max_tokens 的比例，0.1 至 1。', en: 'Share of max_tokens, 0.1 to 1.' },
      note: WITH_CLAUDE,
    },
  ],
  [
    'LogConsumeEnabled',
    { label: { zh: '启用额度消费日志记录', en: 'Keep usage logs' }, note: ALWAYS_RECORDED },
  ],
  [
    'DisplayTokenStatEnabled',
    {
      label: { zh: '额度查询接口返回令牌额度', en: 'Keys may look up their own quota' },
      help: {
        zh: '关闭后，额度查询接口返回用户额度。',
        en: 'Otherwise the look-up by a key answers the user’s quota.',
      },
      note: WITH_LOOK_UP,
    },
  ],
])

const TITLES_WITHOUT_EFFECT: ReadonlyMap<string, TranslatedText> = new Map([
  ['gemini', { zh: 'Gemini 设置', en: 'Gemini settings' }],
])

type Texts = Readonly<Record<string, string>>
type TextsByValue = Readonly<Record<string, Texts>>

/** Returns an option's texts for each of its values. */
const textsByValue = (
  zhTexts: TextsByValue,
  enTexts: TextsByValue,
  key: string,
): [value: string, text: TranslatedText][] =>
  Object.keys(zhTexts[key] ?? {}).flatMap((value) => {
    const text = translatedTextOf(zhTexts[key] ?? {}, enTexts[key] ?? {}, value)
    return text === null ? [] : [[value, text]]
  })

export type OptionTexts = Pick<
  OptionSchema,
  'label' | 'help' | 'choice_words' | 'note' | 'bounds_words' | 'ask_before'
>

/** Returns the texts of an option. Throws if the option has no label. */
export function optionTexts(key: string): OptionTexts {
  const texts = TEXTS_WITHOUT_EFFECT.get(key)
  const label = texts?.label ?? translatedTextOf(zh.label, en.label, key)
  assert(label !== null, `option ${key} has no label`)
  const [question] = textsByValue(zh.confirm, en.confirm, key)
  return {
    label,
    help: texts?.help ?? translatedTextOf(zh.help, en.help, key),
    choice_words: Object.fromEntries(textsByValue(zh.choice, en.choice, key)),
    note: texts?.note ?? null,
    bounds_words: translatedTextOf(zh.bounds, en.bounds, key),
    ask_before: question === undefined ? null : { value: question[0], words: question[1] },
  }
}

/** Returns the texts of a section. Throws if the section has no title. */
export function sectionTexts(id: string): Pick<OptionSection, 'title' | 'lead'> {
  const title =
    TITLES_WITHOUT_EFFECT.get(id) ?? translatedTextOf(zh.sectionTitle, en.sectionTitle, id)
  assert(title !== null, `section ${id} has no title`)
  return { title, lead: translatedTextOf(zh.sectionLead, en.sectionLead, id) }
}
