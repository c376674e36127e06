import { useTranslation } from 'react-i18next'
import { useOptionLabel } from './use-option-label.ts'

/** Codes of what can be wrong with a price option by the time its change is due. */
const CAUSES = {
  'entry-missing': 'entryMissing',
  'not-ratio': 'notRatio',
  'not-number': 'notRatio',
  'below-minimum': 'outOfBounds',
  'above-maximum': 'outOfBounds',
  'too-long': 'tooLong',
  'too-many-bytes': 'tooLong',
  'name-missing': 'badName',
  'name-too-long': 'badName',
  'name-reserved': 'badName',
  'bad-character': 'badName',
} as const

/** Words for why a plan failed, of which the server says `option: code`. */
export function usePlanFault(): (fault: string) => string {
  const { t } = useTranslation()
  const optionLabel = useOptionLabel()
  return (fault) => {
    const [option = '', code = ''] = fault.split(': ')
    const cause = Object.hasOwn(CAUSES, code) ? CAUSES[code as keyof typeof CAUSES] : 'other'
    return t(`prices.planFault.${cause}`, { option: optionLabel(option), code })
  }
}
