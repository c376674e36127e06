import { assert } from '#domain/shared/assert.ts'
import { translatedTextOf } from '#domain/shared/translated-text.ts'
import { optionTranslations as en } from '../contract/option-translations/en.ts'
import { optionTranslations as zh } from '../contract/option-translations/zh.ts'
import type { OptionSchema, OptionSection, TranslatedText } from '../contract/options.ts'

const NO_QUEUE_NOTE: TranslatedText = {
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
 * The texts of options that no longer have an effect. The console hides these options, but `GET
 * /api/option/schema` lists them.
 */
const TEXTS_WITHOUT_EFFECT: ReadonlyMap<string, TextsWithNote> = new Map([
  [
    'StreamCacheQueueLength',
    { label: { zh: '流式缓存队列长度', en: 'Stream lines kept in a queue' }, note: NO_QUEUE_NOTE },
  ],
  [
    'LogConsumeEnabled',
    { label: { zh: '启用额度消费日志记录', en: 'Keep usage logs' }, note: ALWAYS_RECORDED },
  ],
])

type Texts = Readonly<Record<string, string>>
type TextsByValue = Readonly<Record<string, Texts>>

/** Returns the values of an option that have a text in both languages, each with this text. */
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
  const title = translatedTextOf(zh.sectionTitle, en.sectionTitle, id)
  assert(title !== null, `section ${id} has no title`)
  return { title, lead: translatedTextOf(zh.sectionLead, en.sectionLead, id) }
}
