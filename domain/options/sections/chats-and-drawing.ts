import type { OptionSection } from '../option-definition.ts'
import { FLAG, integer, LINK } from '../option-type.ts'

export const CHATS: OptionSection = {
  id: 'chats',
  tab: 'operation',
  options: [
    { key: 'Chats', type: { kind: 'links' }, preset: '[]' },
    { key: 'ChatLink', type: LINK, preset: '' },
    { key: 'ChatLink2', type: LINK, preset: '' },
  ],
}

export const DRAWING: OptionSection = {
  id: 'drawing',
  tab: 'other',
  options: [
    { key: 'DrawingEnabled', type: FLAG, preset: 'false' },
    { key: 'MjNotifyEnabled', type: FLAG, preset: 'false' },
    { key: 'MjAccountFilterEnabled', type: FLAG, preset: 'false' },
    { key: 'MjForwardUrlEnabled', type: FLAG, preset: 'true' },
    { key: 'MjModeClearEnabled', type: FLAG, preset: 'false' },
    { key: 'MjActionCheckSuccessEnabled', type: FLAG, preset: 'true' },
    { key: 'TaskEnabled', type: FLAG, preset: 'false' },
    { key: 'OpenTasksMax', type: integer(1, 10_000), preset: '100' },
  ],
}
