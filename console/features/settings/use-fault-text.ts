import { useTranslation } from 'react-i18next'
import type { SettingFault } from './setting-faults.ts'

/** The words of a fault; undefined when there is none. */
export function useFaultText(): (fault: SettingFault | null) => string | undefined {
  const { t } = useTranslation()
  return (fault) => {
    if (fault === null) return undefined
    if (fault.code === 'tooSmall') return t('settings.tooSmall', { min: fault.min })
    if (fault.code === 'tooLarge') return t('settings.tooLarge', { max: fault.max })
    return t(`settings.${fault.code}`)
  }
}
