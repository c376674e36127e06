import { Fragment } from 'react'
import { useTranslation } from 'react-i18next'

const isMac = /Mac|iP/.test(navigator.userAgent)

export const PALETTE_KEYS = isMac ? '⌘K' : 'Ctrl+K'

/** Shows the keys of a shortcut. `g d` means two keys, one pressed after the other. */
export function ShortcutKeys({ keys }: { keys: string }) {
  const { t } = useTranslation()
  return (
    <span className="tg-keys">
      {keys.split(' ').map((key, index) => (
        <Fragment key={key}>
          {index > 0 && <span className="tg-visually-hidden">{t('commands.keyThen')}</span>}
          <kbd>{key}</kbd>
        </Fragment>
      ))}
    </span>
  )
}
