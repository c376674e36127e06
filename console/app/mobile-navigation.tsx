import { type ReactElement, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useStatus } from '#console/api/status/status.ts'
import { Button } from '#console/ui/button.tsx'
import { Overlay } from '#console/ui/overlay.tsx'
import { Brand } from './brand.tsx'
import { NavSections } from './sidebar.tsx'
import { siteLinks } from './site-links.ts'

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
      <ul className="tg-mobile-links" aria-label={t('shell.topNavigation')}>
        {siteLinks(useStatus())
          .filter(({ id }) => id !== 'console')
          .map(({ id, to, isElsewhere }) => (
            <li key={id}>
              {isElsewhere ? (
                <a href={to} target="_blank" rel="noopener noreferrer">
                  {t(`shell.${id}`)}
                </a>
              ) : (
                <Link to={to} onClick={props.onClose}>
                  {t(`shell.${id}`)}
                </Link>
              )}
            </li>
          ))}
      </ul>
    </Overlay>
  )
}
