import { type ReactElement, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { Overlay } from '#console/ui/overlay.tsx'
import { Brand } from './brand.tsx'
import { NavSections } from './sidebar.tsx'

/** The sidebar of narrow screens: a drawer from the left. */
export function MobileNavigation(props: { isOpen: boolean; onClose: () => void }): ReactElement {
  const { t } = useTranslation()
  const id = useId()
  return (
    <Overlay
      isOpen={props.isOpen}
      onClose={props.onClose}
      labelledBy={id}
      className="tg-mobile-menu"
    >
      <header>
        <h2 id={id} className="tg-visually-hidden">
          {t('shell.navigation')}
        </h2>
        <Brand />
        <Button tone="quiet" icon="close" label={t('ui.close')} onClick={props.onClose} />
      </header>
      <NavSections isCollapsed={false} onFollow={props.onClose} />
    </Overlay>
  )
}
