import { useTranslation } from 'react-i18next'
import type { OptionSchema } from '#read-api/contract/option.ts'
import type { SettingFault } from './setting-faults.ts'
import { useWords } from './use-words.ts'

const OUT_OF_BOUNDS: readonly SettingFault['code'][] = ['tooSmall', 'tooLarge', 'notNumber']

/** As far as numbers go on the wire: nobody needs to be told. */
const BEYOND_NEED = String(Number.MAX_SAFE_INTEGER)

/** The words of a fault; those of the option's own rule where it has some. */
export function useFaultText(): (option: OptionSchema, fault: SettingFault) => string {
  const { t } = useTranslation()
  const words = useWords()
  return (option, fault) => {
    if (option.bounds_words !== null && OUT_OF_BOUNDS.includes(fault.code)) {
      return words(option.bounds_words)
    }
    if (fault.code === 'tooSmall') return t('settings.tooSmall', { min: fault.min })
    if (fault.code === 'tooLarge') return t('settings.tooLarge', { max: fault.max })
    if (fault.code === 'tooLong') return t('settings.tooLong', { max: fault.max })
    if (fault.code === 'entryMissing') return t('settings.entryMissing', { name: fault.name })
    if (fault.code === 'sameName') return t('settings.sameName', { name: fault.name })
    if (fault.code === 'unknownPlaceholder') {
      return t('settings.unknownPlaceholder', { placeholder: fault.placeholder })
    }
    if (fault.code === 'belowOther') {
      return t('settings.belowOther', { other: words(fault.other) })
    }
    if (fault.code === 'aboveOther') {
      return t('settings.aboveOther', { other: words(fault.other) })
    }
    const text = t(`settings.${fault.code}`)
    const { minimum: min, maximum: max } = option.type
    // Of what is no number: which ones there are.
    const isBounded = fault.code === 'notInteger' || fault.code === 'notNumber'
    if (!isBounded || min === undefined || max === undefined) return text
    return max === BEYOND_NEED
      ? t('settings.withMinimum', { text, min })
      : t('settings.withBounds', { text, min, max })
  }
}
