import type { OptionSection } from '../option-definition.ts'
import { FLAG, lines } from '../option-type.ts'

export const SCREENING: OptionSection = {
  id: 'screening',
  tab: 'models',
  options: [
    { key: 'CheckSensitiveEnabled', type: FLAG, preset: 'false' },
    { key: 'CheckSensitiveOnPromptEnabled', type: FLAG, preset: 'false' },
    { key: 'StopOnSensitiveEnabled', type: FLAG, preset: 'false' },
    { key: 'SensitiveWords', type: lines(200_000), preset: '' },
  ],
}
