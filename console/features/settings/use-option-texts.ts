import { useTranslation } from 'react-i18next'

/**
 * The type of the translation keys of all options. The compiler can't check these keys, because the
 * options come from the server. The type therefore names one existing key in place of all these
 * keys. `option-translations.test.ts` checks that no text is missing.
 */
type TextKey = 'options.label.RetryTimes'

/**
 * The texts of options and sections in the current language. Functions without a comment return an
 * empty text if the text is missing.
 */
export type OptionTexts = {
  readonly sectionTitle: (id: string) => string
  readonly sectionLead: (id: string) => string
  /** Returns the option's label, or `key` if the option has no label. */
  readonly label: (key: string) => string
  readonly help: (key: string) => string
  /** Returns the label of a value, or the value if it has no label. */
  readonly choice: (key: string, value: string) => string
  /**
   * Returns the special error message of an option for a value that is out of bounds. Returns an
   * empty text if the option has no such message. The form then shows a general message with the
   * bounds.
   */
  readonly bounds: (key: string) => string
  /**
   * Returns the question that the user must confirm before selecting a value, or an empty text if
   * there is no such question.
   */
  readonly confirm: (key: string, value: string) => string
}

export function useOptionTexts(): OptionTexts {
  const { t, i18n } = useTranslation()
  const text = (key: string): string => (i18n.exists(key) ? t(key as TextKey) : '')
  return {
    sectionTitle: (id) => text(`options.sectionTitle.${id}`),
    sectionLead: (id) => text(`options.sectionLead.${id}`),
    label: (key) => text(`options.label.${key}`) || key,
    help: (key) => text(`options.help.${key}`),
    choice: (key, value) => text(`options.choice.${key}.${value}`) || value,
    bounds: (key) => text(`options.bounds.${key}`),
    confirm: (key, value) => text(`options.confirm.${key}.${value}`),
  }
}
